// The names of tools in other programs. Agent files of those programs are translated; elsewhere such a name is an error that suggests ours.

/** The programs whose agent files are read. */
export const dialects = ['claude', 'copilot', 'opencode', 'gemini', 'codex'] as const
export type Dialect = (typeof dialects)[number]

/** The tools of an agent without trust. */
export const readingTools = ['read_file', 'list_files', 'search_files'] as const
export const writingTools = ['write_file', 'edit_file', 'apply_patch'] as const
/** Withheld from an agent that must not change anything. */
export const changingTools: readonly string[] = [...writingTools, 'shell']
/** Models see an agent as a tool with this prefix. */
export const agentPrefix = 'agent__'

interface Group {
  readonly ours: readonly string[]
  /** By dialect: `Name` stands for the whole group, `Name=tool` for one of our tools. Case does not matter. */
  readonly theirs: { readonly [D in Dialect]?: string }
}

/** A name without an equivalent is not in the table: it is reported and ignored. */
const groups: readonly Group[] = [
  {
    ours: ['shell'],
    theirs: {
      claude: 'Bash PowerShell',
      copilot: 'execute shell Bash powershell runCommands runInTerminal execute/runInTerminal',
      opencode: 'bash shell',
      gemini: 'run_shell_command',
    },
  },
  {
    ours: ['read_file'],
    theirs: {
      claude: 'Read NotebookRead',
      copilot: 'read NotebookRead view readFile read/readFile',
      opencode: 'read',
      gemini: 'read_file read_many_files',
    },
  },
  {
    ours: writingTools,
    theirs: {
      claude: 'Edit=edit_file MultiEdit=edit_file Write=write_file',
      copilot: 'edit MultiEdit Write NotebookEdit editFiles edit/editFiles edit/createFile=write_file',
      opencode: 'edit write=write_file patch=apply_patch apply_patch=apply_patch',
      gemini: 'write_file=write_file replace=edit_file',
    },
  },
  {
    ours: ['search_files', 'list_files'],
    theirs: {
      claude: 'Grep=search_files Glob=list_files LS=list_files',
      copilot:
        'search Grep=search_files Glob=list_files codebase search/codebase search/textSearch=search_files search/fileSearch=list_files search/listDirectory=list_files',
      opencode: 'grep=search_files glob=list_files list=list_files',
      gemini: 'grep_search=search_files search_file_content=search_files glob=list_files list_directory=list_files',
    },
  },
  {
    ours: [`${agentPrefix}*`],
    theirs: { claude: 'Task Agent', copilot: 'agent custom-agent Task runSubagent agent/runSubagent', opencode: 'task subagent' },
  },
  {
    ours: ['web_fetch'],
    theirs: { claude: 'WebFetch', copilot: 'web WebFetch fetch web/fetch', opencode: 'webfetch', gemini: 'web_fetch' },
  },
  {
    ours: ['update_plan'],
    theirs: { claude: 'TodoWrite', copilot: 'todo TodoWrite todos', opencode: 'todowrite todoread', gemini: 'write_todos' },
  },
  {
    ours: ['ask_user'],
    theirs: { claude: 'AskUserQuestion', copilot: 'askQuestions vscode/askQuestions', opencode: 'question', gemini: 'ask_user' },
  },
]

/** The names of a dialect with the names of our tools. */
function translationsOf(dialect: Dialect): readonly (readonly [name: string, ours: readonly string[]])[] {
  return groups.flatMap(({ ours, theirs }) =>
    (theirs[dialect]?.split(' ') ?? []).map((entry) => {
      const [name = '', own] = entry.split('=')
      return [name, own === undefined ? ours : [own]] as const
    }),
  )
}

const translations = new Map(
  dialects.map((dialect) => [dialect, new Map(translationsOf(dialect).map(([name, ours]) => [name.toLowerCase(), ours]))]),
)

/** Our tools for one of another program; `undefined` if there is no equivalent. */
export function ownToolsFor(dialect: Dialect, name: string): readonly string[] | undefined {
  return translations.get(dialect)?.get(name.toLowerCase())
}

/** Our tools that a denial of one of another program denies. A patch writes and edits, so it is denied with either. Notebooks are files. */
export function ownToolsDeniedBy(dialect: Dialect, name: string): readonly string[] | undefined {
  if (dialect === 'claude' && name.toLowerCase() === 'notebookedit') return writingTools.map((tool) => `${tool}(*.ipynb)`)
  const names = ownToolsFor(dialect, name)
  return names?.some((own) => own === 'write_file' || own === 'edit_file') ? [...new Set([...names, 'apply_patch'])] : names
}

/** All names of a dialect that have an equivalent. */
export function foreignToolNames(dialect: Dialect): readonly string[] {
  return translationsOf(dialect).map(([name]) => name)
}

/** Our tools for a name of any other program. `ruled`: those that a rule against it denies. */
export function ownToolsForAny(name: string, use: 'granted' | 'ruled'): readonly string[] | undefined {
  for (const dialect of dialects) {
    const ours = use === 'granted' ? ownToolsFor(dialect, name) : ownToolsDeniedBy(dialect, name)
    if (ours) return ours
  }
  return undefined
}
