"""Technologies that one uses instead of each other: guidance for one of them misleads whoever works with another."""

from __future__ import annotations

from functools import cache

from app.technologies import technology_key

GROUPS: tuple[tuple[str, ...], ...] = (
    # Databases, where statements, locks and types differ.
    ("PostgreSQL", "MySQL", "SQLite", "SQL Server", "MSSQL", "Oracle", "MongoDB", "DynamoDB", "Cassandra",
     "CockroachDB", "Firestore", "ClickHouse", "DuckDB"),
    ("Redis", "Memcached", "etcd"),
    # What renders a user interface.
    ("React", "Vue", "Angular", "Svelte", "SvelteKit", "SolidJS", "Preact", "Ember", "Lit", "SwiftUI", "UIKit",
     "Jetpack Compose", "Android", "Flutter", "Qt", "WPF"),
    ("Next.js", "Nuxt", "Remix", "Astro", "SvelteKit", "Gatsby"),
    ("Redux", "MobX", "Zustand", "Pinia", "NgRx", "RxJS"),
    # Languages with runtimes of their own.
    ("Python", "Node.js", "Java", "Kotlin", "Scala", "Go", "Rust", "Ruby", "PHP", "C#", ".NET", "Swift", "Elixir",
     "Erlang", "C++", "Dart", "Perl", "Haskell", "Clojure"),
    ("TypeScript", "Java", "Kotlin", "Scala", "Go", "Rust", "Ruby", "PHP", "C#", ".NET", "Swift", "Elixir", "Dart",
     "Python"),
    # Frameworks for the server side.
    ("FastAPI", "Django", "Flask", "Starlette", "Express", "NestJS", "Fastify", "Koa", "Spring", "Spring Boot",
     "Quarkus", "Rails", "Ruby on Rails", "Sinatra", "Laravel", "Symfony", "ASP.NET", "ASP.NET Core", "Phoenix",
     "Gin", "Axum", "Actix", "aiohttp", "Tornado"),
    ("SQLAlchemy", "Django ORM", "Prisma", "TypeORM", "Sequelize", "Drizzle", "Hibernate", "JPA", "EF Core",
     "Entity Framework", "Active Record", "Doctrine", "Eloquent", "GORM", "Diesel", "Peewee", "Mongoose"),
    ("Alembic", "Flyway", "Liquibase", "Knex"),
    ("psycopg", "asyncpg", "JDBC", "HikariCP", "node-postgres"),
    ("Celery", "Sidekiq", "RQ", "Dramatiq", "BullMQ", "Hangfire", "Quartz"),
    ("asyncio", "tokio", "Akka", "Trio"),
    ("Pydantic", "Zod", "marshmallow", "Joi", "Yup"),
    ("HTTPX", "requests", "axios", "OkHttp", "Guzzle", "Faraday"),
    # Tests.
    ("pytest", "JUnit", "RSpec", "NUnit", "xUnit", "PHPUnit", "Jest", "Vitest", "Mocha", "Jasmine"),
    ("unittest.mock", "Mockito", "Sinon", "Moq", "WireMock"),
    ("Playwright", "Selenium", "Cypress", "Puppeteer", "WebdriverIO", "Appium", "Espresso", "XCUITest"),
    ("Testing Library", "Enzyme", "Espresso", "XCUITest"),
    ("Hypothesis", "fast-check", "QuickCheck", "jqwik"),
    # Delivery.
    ("npm", "pnpm", "Yarn", "Bun", "Composer", "Maven", "Gradle", "Bundler", "Cargo", "NuGet", "pip", "uv", "Poetry"),
    ("Terraform", "Ansible", "Pulumi", "CloudFormation", "Puppet", "Chef", "Bicep", "CDK"),
    ("Kubernetes", "ECS", "AWS ECS", "Fargate", "Nomad", "Docker Swarm", "Heroku", "Cloud Run", "AWS Lambda"),
    ("GitHub Actions", "GitLab CI", "Jenkins", "CircleCI", "Azure Pipelines", "Buildkite", "Bitbucket Pipelines"),
    ("Git", "Mercurial", "Subversion", "Perforce"),
    ("nginx", "Apache", "Caddy", "HAProxy", "Traefik", "Envoy"),
    ("Vite", "webpack", "Parcel", "Rollup", "esbuild", "Turbopack"),
    ("Prometheus", "Datadog", "StatsD", "InfluxDB", "Graphite", "CloudWatch"),
)  # fmt: skip


def rivals(key: str) -> frozenset[str]:
    """Return the keys of the technologies that one uses instead of this one."""
    return _rivals().get(key, frozenset())


@cache
def _rivals() -> dict[str, frozenset[str]]:
    keyed = [frozenset(map(technology_key, group)) for group in GROUPS]
    return {
        key: frozenset().union(*(group for group in keyed if key in group)) - {key} for group in keyed for key in group
    }
