# A bare lease compares with what the fetch has just brought.
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=me GIT_CONFIG_KEY_1=user.email \
  GIT_CONFIG_VALUE_1=me@example.org GIT_CONFIG_KEY_2=init.defaultBranch GIT_CONFIG_VALUE_2=topic
git init -q --bare remote
git clone -q remote mine 2>/dev/null
git -C mine commit -q --allow-empty -m "my draft"
git -C mine push -q origin topic
base=$(git -C mine rev-parse origin/topic)
git clone -q remote theirs
git -C theirs commit -q --allow-empty -m "the colleague's work"
git -C theirs push -q origin topic
# I rewrite what I have seen, and something fetches in the background.
git -C mine commit -q --amend --allow-empty -m "my draft, reworded"
git -C mine fetch -q
git -C mine push -q --force-with-lease origin topic
git -C remote log topic | grep "the colleague's work" || { echo "the colleague's commit is gone"; exit 1; }
