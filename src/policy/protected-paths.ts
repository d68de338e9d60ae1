// Names in a workspace that programs outside of the sandbox run or trust later. One list for the sandbox, which mounts them
// read-only, and for the file tools, which ask about each of them. Lower case; compare without regard to case.

/** Settings that contain code or decide what runs: of editors, shells, agents, and Troupe itself. */
export const protectedSettings: readonly string[] = [
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

/** Git runs hooks, and programs that its settings name. `commondir` names another folder with both, `gitdir` a work tree. */
export const protectedPartsOfGit: readonly string[] = ['hooks', 'config', 'config.worktree', 'commondir', 'gitdir']

/** Files in a home folder that shells and Git read when they start. */
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

/** Keys of providers: only Troupe reads them, and no agent sees them. */
export const secretNames: readonly string[] = ['.ai-agent.env']

/** Secrets in a home folder, and settings that programs trust. */
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
