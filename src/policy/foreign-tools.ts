// The one table of the names that other programs have for tools. Their agent files are translated with it; everywhere else
// such a name is refused with ours.

/** Whose file it is. Our own `.ai` is no dialect. */
export const dialects = ['claude', 'copilot', 'opencode', 'gemini', 'codex'] as const
export type Dialect = (typeof dialects)[number]

/** Tools of ours that only look at files. What an agent gets that nobody has trusted. */
export const readingTools = ['read_file', 'list_files', 'search_files'] as const
export const writingTools = ['write_file', 'edit_file', 'apply_patch'] as const
/** What is withheld from an agent that is to change nothing. A shell can write too. */
export const changingTools: readonly string[] = [...writingTools, 'shell']
/** Every agent is a tool of this name. */
export const agentPrefix = 'agent__'

interface Group {
  readonly ours: readonly string[]
  /** By dialect, the names that mean one or more of ours; without a list, the whole group. Letter case does not count. */
  readonly theirs: { readonly [D in Dialect]?: { readonly [name: string]: readonly string[] | 'group' } }
}

const anyAgent = [`${agentPrefix}*`]

/**
 * Copilot's aliases are the groups, because they are the widest; the others' names are sorted in below them. A name that
 * nothing of ours stands for is not here: it is told, and left out.
 */
const groups: { readonly [alias: string]: Group } = {
  execute: {
    ours: ['shell'],
    theirs: {
      claude: { Bash: 'group', PowerShell: 'group' },
      copilot: {
        execute: 'group',
        shell: 'group',
        Bash: 'group',
        powershell: 'group',
        runCommands: 'group',
        runInTerminal: 'group',
        'execute/runInTerminal': 'group',
      },
      opencode: { bash: 'group', shell: 'group' },
      gemini: { run_shell_command: 'group' },
    },
  },
  read: {
    ours: ['read_file'],
    theirs: {
      claude: { Read: 'group', NotebookRead: 'group' },
      copilot: { read: 'group', NotebookRead: 'group', view: 'group', readFile: 'group', 'read/readFile': 'group' },
      opencode: { read: 'group' },
      gemini: { read_file: 'group', read_many_files: 'group' },
    },
  },
  edit: {
    ours: writingTools,
    theirs: {
      claude: { Edit: ['edit_file'], MultiEdit: ['edit_file'], Write: ['write_file'] },
      copilot: {
        edit: 'group',
        MultiEdit: 'group',
        Write: 'group',
        NotebookEdit: 'group',
        editFiles: 'group',
        'edit/editFiles': 'group',
        'edit/createFile': ['write_file'],
      },
      opencode: { edit: 'group', write: ['write_file'], patch: ['apply_patch'], apply_patch: ['apply_patch'] },
      gemini: { write_file: ['write_file'], replace: ['edit_file'] },
    },
  },
  search: {
    ours: ['search_files', 'list_files'],
    theirs: {
      claude: { Grep: ['search_files'], Glob: ['list_files'], LS: ['list_files'] },
      copilot: {
        search: 'group',
        Grep: ['search_files'],
        Glob: ['list_files'],
        codebase: 'group',
        'search/codebase': 'group',
        'search/textSearch': ['search_files'],
        'search/fileSearch': ['list_files'],
        'search/listDirectory': ['list_files'],
      },
      opencode: { grep: ['search_files'], glob: ['list_files'], list: ['list_files'] },
      gemini: {
        grep_search: ['search_files'],
        search_file_content: ['search_files'],
        glob: ['list_files'],
        list_directory: ['list_files'],
      },
    },
  },
  agent: {
    ours: anyAgent,
    theirs: {
      claude: { Task: 'group', Agent: 'group' },
      copilot: { agent: 'group', 'custom-agent': 'group', Task: 'group', runSubagent: 'group', 'agent/runSubagent': 'group' },
      opencode: { task: 'group', subagent: 'group' },
    },
  },
  web: {
    ours: ['web_fetch'],
    theirs: {
      claude: { WebFetch: 'group' },
      copilot: { web: 'group', WebFetch: 'group', fetch: 'group', 'web/fetch': 'group' },
      opencode: { webfetch: 'group' },
      gemini: { web_fetch: 'group' },
    },
  },
  todo: {
    ours: ['update_plan'],
    theirs: {
      claude: { TodoWrite: 'group' },
      copilot: { todo: 'group', TodoWrite: 'group', todos: 'group' },
      opencode: { todowrite: 'group', todoread: 'group' },
      gemini: { write_todos: 'group' },
    },
  },
  question: {
    ours: ['ask_user'],
    theirs: {
      claude: { AskUserQuestion: 'group' },
      copilot: { askQuestions: 'group', 'vscode/askQuestions': 'group' },
      opencode: { question: 'group' },
      gemini: { ask_user: 'group' },
    },
  },
}

/** By dialect: a name of theirs in lower case → names of ours. */
const crosswalk: { readonly [D in Dialect]: ReadonlyMap<string, readonly string[]> } = {
  claude: namesOf('claude'),
  copilot: namesOf('copilot'),
  opencode: namesOf('opencode'),
  gemini: namesOf('gemini'),
  codex: namesOf('codex'),
}

function namesOf(dialect: Dialect): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.values(groups).flatMap(({ ours, theirs }) =>
      Object.entries(theirs[dialect] ?? {}).map(([name, means]) => [name.toLowerCase(), means === 'group' ? ours : means] as const),
    ),
  )
}

/** Our names for one of theirs; `undefined` where the dialect has no such tool or we have none like it. */
export function ownToolsFor(dialect: Dialect, name: string): readonly string[] | undefined {
  return crosswalk[dialect].get(name.toLowerCase())
}

/**
 * What a denial of one of theirs denies here. A patch writes and edits, so whoever may not do either has none. Notebooks
 * are plain files here: no tool of their own changes them.
 */
export function ownToolsDeniedBy(dialect: Dialect, name: string): readonly string[] | undefined {
  if (dialect === 'claude' && name.toLowerCase() === 'notebookedit') return writingTools.map((tool) => `${tool}(*.ipynb)`)
  const names = ownToolsFor(dialect, name)
  return names?.some((own) => own === 'write_file' || own === 'edit_file') ? [...new Set([...names, 'apply_patch'])] : names
}

/** Their names that have one of ours, for suggestions and for rules that speak of all of them. */
export function foreignToolNames(dialect: Dialect): readonly string[] {
  return Object.values(groups).flatMap(({ theirs }) => Object.keys(theirs[dialect] ?? {}))
}

/** Our names for a name that any other program has; `undefined` where none has it. A rule against one means all that do the same. */
export function ownToolsForAny(name: string, use: 'granted' | 'ruled'): readonly string[] | undefined {
  for (const dialect of dialects) {
    const ours = use === 'granted' ? ownToolsFor(dialect, name) : ownToolsDeniedBy(dialect, name)
    if (ours) return ours
  }
  return undefined
}
