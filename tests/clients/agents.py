"""Coding agents, set up by their own commands in homes of their own. Their model is a stand-in on this machine."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from tests.clients import installing
from tests.clients.standin import ScriptedModel

LONGEST = 100
NAME = "chatctx"
BAD = "not-a-key"


class Agent(Protocol):
    """A coding agent with a fresh home."""

    @staticmethod
    def adding(url: str, key: str | None) -> list[str]:
        """Return the command that adds the server, as docs/clients.md shows it."""

    def add(self, url: str, key: str | None) -> None:
        """Add the server as the agent's documentation says."""

    def check(self) -> str:
        """Return what the agent's own health check prints."""

    def hold(self, url: str, calls: Sequence[Any], key: str | None) -> dict[str, Any]:
        """Add the server, let the agent make the calls, and return what it saw, as `Driver.hold` does."""


class ClaudeCode:
    """Claude Code."""

    def __init__(self, _node: str, home: Path) -> None:
        (program,) = sorted(installing.AGENTS.glob("node_modules/@anthropic-ai/claude-code-*/claude*"))[:1]
        self._program = [str(program)]
        self._home = home
        self._quiet = {
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            # Tools are offered at once, and not looked for first.
            "ENABLE_TOOL_SEARCH": "false",
        }

    @staticmethod
    def adding(url: str, key: str | None) -> list[str]:
        header = ["--header", f"Authorization: Bearer {key}"] if key else []
        return ["claude", "mcp", "add", "--transport", "http", "--scope", "user", NAME, url, *header]

    def add(self, url: str, key: str | None) -> None:
        self._run(*self.adding(url, key)[1:])

    def check(self) -> str:
        return self._run("mcp", "get", NAME)

    def hold(self, url: str, calls: Sequence[Any], key: str | None) -> dict[str, Any]:
        self.add(url, key)
        with ScriptedModel(calls).listening() as model:
            # Only here: with a key and no address of its own it would wait for its makers' service.
            where = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": BAD}
            self._run("-p", "Ask.", "--allowedTools", f"mcp__{NAME}", **where)
        return seen_by(model, self)

    def _run(self, *arguments: str, **environ: str) -> str:
        return run([*self._program, *arguments], self._home, **self._quiet, **environ)


class GeminiCli:
    """Gemini CLI."""

    def __init__(self, node: str, home: Path) -> None:
        self._program = [node, str(installing.MODULES / "@google/gemini-cli/bundle/gemini.js")]
        self._home = home
        self._quiet = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_TELEMETRY_ENABLED": "false"}
        (home / ".gemini").mkdir(parents=True)
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        }
        (home / ".gemini" / "settings.json").write_text(json.dumps(settings))

    @staticmethod
    def adding(url: str, key: str | None) -> list[str]:
        header = ["--header", f"Authorization: Bearer {key}"] if key else []
        return ["gemini", "mcp", "add", "--transport", "http", "--scope", "user", "--trust", *header, NAME, url]

    def add(self, url: str, key: str | None) -> None:
        self._run(*self.adding(url, key)[1:])

    def check(self) -> str:
        return self._run("mcp", "list")

    def hold(self, url: str, calls: Sequence[Any], key: str | None) -> dict[str, Any]:
        self.add(url, key)
        with ScriptedModel(calls).listening() as model:
            where = {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": BAD}
            self._run("-m", "gemini-2.5-flash", "-p", "Ask.", **where)
        return seen_by(model, self)

    def _run(self, *arguments: str, **environ: str) -> str:
        return run([*self._program, *arguments], self._home, **self._quiet, **environ)


class Codex:
    """Codex, whose server for editors calls a tool without a model."""

    def __init__(self, node: str, home: Path) -> None:
        self._program = [node, str(installing.AGENTS / "node_modules/@openai/codex/bin/codex.js")]
        self._home = home
        home.mkdir(parents=True, exist_ok=True)
        # Nobody listens there, so that it waits for nobody.
        provider = (
            'model_provider = "none"\n[model_providers.none]\nname = "none"\nbase_url = "http://127.0.0.1:9/v1"\n'
        )
        (home / "config.toml").write_text(provider)

    @staticmethod
    def adding(url: str, key: str | None) -> list[str]:
        return ["codex", "mcp", "add", NAME, "--url", url, *(["--bearer-token-env-var", "KB_KEY"] if key else [])]

    def add(self, url: str, key: str | None) -> None:
        self._run(*self.adding(url, key)[1:])

    def check(self) -> str:
        return self._run("mcp", "list")

    def hold(self, url: str, calls: Sequence[Any], key: str | None) -> dict[str, Any]:
        self.add(url, key)
        seen: dict[str, Any] = {"tools": [], "answers": [], "failure": None}
        environ = environment(self._home, CODEX_HOME=str(self._home), **({"KB_KEY": key} if key else {}))
        with AppServer([*self._program, "app-server"], self._home, environ) as app:
            app.ask("initialize", {"clientInfo": {"name": "chatctx-tests", "version": "1"}})
            thread = app.ask("thread/start", {"cwd": str(self._home)})["result"]["thread"]["id"]
            for name, arguments in calls:
                text = json.dumps(arguments)
                if "$ID" in text:
                    text = text.replace("$ID", json.loads(seen["answers"][0][1])["results"][0]["id"])
                call = {"server": NAME, "threadId": thread, "tool": name, "arguments": json.loads(text)}
                reply = app.ask("mcpServer/tool/call", call)
                if "error" in reply:
                    seen["failure"] = reply["error"]["message"]
                    break
                seen["answers"].append((reply["result"]["isError"], reply["result"]["content"][0]["text"]))
            (server,) = app.ask("mcpServerStatus/list", {})["result"]["data"]
            seen["tools"] = list(server["tools"])
        return seen

    def _run(self, *arguments: str) -> str:
        return run([*self._program, *arguments], self._home, CODEX_HOME=str(self._home))


class AppServer:
    """Codex's server for editors, spoken to in JSON lines."""

    def __init__(self, command: Sequence[str], home: Path, environ: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=home,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._asked = 0

    def __enter__(self) -> AppServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=20)

    def ask(self, method: str, params: object) -> dict[str, Any]:
        """Return the reply to a request; what it tells meanwhile is passed over."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked += 1
        self._process.stdin.write(json.dumps({"id": self._asked, "method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        while True:
            told: dict[str, Any] = json.loads(self._process.stdout.readline())
            if told.get("id") == self._asked:
                return told


def seen_by(model: ScriptedModel, agent: Agent) -> dict[str, Any]:
    """Return what an agent handed to its model; where it had no tools, what its health check says."""
    failures = [text for is_error, text in model.answers if is_error]
    if not model.tools:
        failures = [agent.check()]
    answers = [answer for answer in model.answers if not answer[0]]
    return {"tools": model.tools, "answers": answers, "failure": failures[0] if failures else None}


def environment(home: Path, **environ: str) -> dict[str, str]:
    """Return what an agent may know: nothing of whoever runs the tests."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1", **environ}


def run(command: Sequence[str], home: Path, **environ: str) -> str:
    """Return what a command prints, errors among it; it must not fail."""
    home.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        command,
        cwd=home,
        env=environment(home, **environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout
