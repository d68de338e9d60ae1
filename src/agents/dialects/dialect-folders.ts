/** Where a project keeps agents of other programs, from its own folder. */
export const dialectFolders: readonly string[] = [
  '.claude/agents',
  '.github/agents',
  '.opencode/agent',
  '.opencode/agents',
  '.gemini/agents',
  '.codex/agents',
]
