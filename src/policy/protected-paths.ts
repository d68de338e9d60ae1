/*
 * Names in a workspace that programs outside of it run or believe later. One list for the sandbox, which binds them
 * read-only, and for the file tools, which ask about each of them. Lower case; compare without regard to case.
 */

/** Files and folders with settings that have code in them or decide what runs: of editors, shells, agents, and our own. */
export const guardedSettings: readonly string[] = [
  '.ai-agent.json',
  '.ai-agent',
  '.mcp.json',
  '.troupe',
  '.agents',
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
  '.opencode',
  '.vscode',
  '.idea',
  '.devcontainer',
  '.devcontainer.json',
  '.envrc',
  '.githooks',
  '.husky',
]

/** Git runs hooks and whatever its settings name. `commondir` says where else to look for both, `gitdir` where a work tree is. */
export const guardedPartsOfGit: readonly string[] = ['hooks', 'config', 'config.worktree', 'commondir', 'gitdir', 'modules']

/** Files in a home folder that a shell or Git reads when it starts. */
export const startFiles: readonly string[] = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.inputrc',
  '.gitconfig',
]

/** Keys of providers: only we read them, and no agent sees them. */
export const secretNames: readonly string[] = ['.ai-agent.env']

/** What of a home folder programs keep secret, and believe. */
export const homeSecrets: readonly string[] = [
  '.ssh',
  '.aws',
  '.azure',
  '.config',
  '.gnupg',
  '.kube',
  '.docker',
  '.ai-agent',
  '.troupe',
  '.claude',
  '.codex',
  '.gemini',
  '.local/share/keyrings',
  '.local/state',
  '.mozilla',
  '.thunderbird',
  '.password-store',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.netrc',
  '.git-credentials',
  '.pgpass',
  '.my.cnf',
  '.vault-token',
  '.terraform.d',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
]
