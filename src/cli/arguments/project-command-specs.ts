// The commands for projects and stored sessions. Part of the one list in command-specs.ts.
import { sessionStatuses, usageGroupings } from '../../contracts/index.ts'
import type { CommandSpec, FlagSpec } from './command-specs.ts'
import { configFile, json, store } from './shared-flags.ts'

const everywhere: FlagSpec = { name: 'everywhere', summary: 'Include other projects and sessions without a project' }
const dataDir: FlagSpec = {
  name: 'data-dir',
  value: 'DIR',
  summary: 'Read sessions from DIR (default: ~/.local/state/troupe)',
  completes: 'folder',
  excludes: ['store'],
}

export const approvalsActions = ['list', 'answer', 'drop', 'revoke'] as const
export type ApprovalsAction = (typeof approvalsActions)[number]

export const sessionsActions = ['list', 'show', 'fork', 'export', 'rename', 'prune', 'delete'] as const
export type SessionsAction = (typeof sessionsActions)[number]

export const storeActions = ['reindex', 'migrate', 'copy'] as const
export type StoreAction = (typeof storeActions)[number]

export const mcpActions = ['list', 'show', 'call', 'login', 'logout'] as const
export type McpAction = (typeof mcpActions)[number]

const agentFile: FlagSpec = { name: 'agent', value: 'FILE', summary: 'Use the servers of this agent file, too', completes: 'agent' }

export const projectCommands = [
  {
    name: 'validate',
    summary: 'Check agents and configuration without running anything',
    arguments: [
      {
        name: 'PATH',
        required: false,
        repeatable: true,
        summary: 'Agent files or folders (default: those that `agents list` shows)',
        completes: { name: 'agent' },
      },
    ],
    groups: [{ title: 'Options', flags: [{ name: 'strict', summary: 'Fail on warnings, too' }, json, configFile] }],
    notes: [
      'All errors of all files are reported together, each with file, line and column. The exit code is then 2.',
      'A listed tool that cannot exist is an error. If it is optional, such as web_search?, it is a warning, and an error with --strict.',
    ],
    examples: [
      { line: 'troupe validate', summary: 'all agents of this folder and of the configuration' },
      { line: 'troupe validate agents/ review.ai --json', summary: 'some agents, as JSON' },
    ],
  },
  {
    name: 'agents',
    summary: 'List agents',
    arguments: [{ name: 'ACTION', required: true, choices: ['list'], summary: 'The action: list' }],
    groups: [{ title: 'Options', flags: [json, configFile] }],
    notes: [
      'Agents are the .ai files of this folder, the files that the configuration lists, and agent files of other programs in their standard locations.',
      'If no agent file is valid, all errors are reported and the exit code is 2.',
    ],
    examples: [{ line: 'troupe agents list', summary: 'show names, descriptions, files and children' }],
  },
  {
    name: 'init',
    summary: 'Create a project that runs without a key or network',
    arguments: [{ name: 'DIR', required: false, summary: 'Folder (default: the current one)', completes: { name: 'folder' } }],
    groups: [{ title: 'Options', flags: [{ name: 'yes', short: 'y', summary: 'Do not ask for confirmation' }] }],
    notes: [
      'Existing files are never overwritten. If one of the new agents or .ai-agent.json exists, nothing is created. Other files, such as README.md and .gitignore, are kept. The new configuration is trusted.',
    ],
    examples: [
      { line: 'troupe init trips', summary: 'create a folder with a team of three agents' },
      { line: 'troupe init --yes', summary: 'create it here without confirmation' },
    ],
  },
  {
    name: 'doctor',
    summary: 'Find problems in this setup and how to fix them',
    arguments: [],
    groups: [{ title: 'Options', flags: [json, configFile] }],
    notes: [
      'Tests whether local model servers respond and sends nothing to other hosts. Keys are never shown. The exit code is 1 if a check fails.',
    ],
    examples: [{ line: 'troupe doctor', summary: 'check Node, configuration, agents, models and the store' }],
  },
  {
    name: 'config',
    summary: 'Show the effective configuration and where each value comes from',
    arguments: [
      { name: 'ACTION', required: true, choices: ['show'], summary: 'The action: show' },
      { name: 'FILE', required: false, summary: 'Agent file whose settings are included', completes: { name: 'agent' } },
    ],
    groups: [
      {
        title: 'Options',
        flags: [{ name: 'origin', summary: 'Show where each value comes from' }, json, configFile],
      },
    ],
    notes: [
      'Precedence, highest first: flags, TROUPE_ variables, the agent file, --config, the working directory, the folder of the agent, ~/.ai-agent, /etc/ai-agent.',
      'Secrets and variables are not shown.',
    ],
    examples: [
      { line: 'troupe config show --origin', summary: 'all settings with their origin' },
      { line: 'troupe config show trip.ai --origin', summary: 'the same for one agent' },
    ],
  },
  {
    name: 'trust',
    summary: "Trust this project's files in their current form",
    arguments: [
      {
        name: 'PATH',
        required: false,
        repeatable: true,
        summary: 'Files or folders (default: everything untrusted here, after review)',
        completes: { name: 'file' },
      },
    ],
    groups: [
      {
        title: 'Options',
        flags: [
          { name: 'all', summary: 'Trust everything here without asking', excludes: ['list', 'revoke'] },
          { name: 'list', summary: 'List trusted files', excludes: ['all', 'revoke'] },
          { name: 'revoke', summary: 'Revoke trust for files, or for everything in folders', excludes: ['all', 'list'] },
          json,
          configFile,
        ],
      },
    ],
    notes: [
      'Trust applies to the content: a changed file must be trusted again.',
      'Without PATH, a terminal shows the untrusted files and what they could do, and asks once. Without a terminal, name files or use --all; otherwise the untrusted files are listed and the exit code is 2.',
    ],
    examples: [
      { line: 'troupe trust', summary: 'review untrusted files and decide' },
      { line: 'troupe trust .ai-agent.json', summary: 'trust one file' },
      { line: 'troupe trust --list', summary: 'list trusted files' },
      { line: 'troupe trust --revoke ~/projects/old', summary: 'revoke trust' },
    ],
  },
  {
    name: 'sessions',
    summary: 'List, show, fork, export, rename, prune or delete stored sessions',
    arguments: [
      {
        name: 'ACTION',
        required: true,
        choices: sessionsActions,
        summary: 'The action: list, show, fork, export, rename, prune or delete',
      },
      {
        name: 'ID',
        required: false,
        repeatable: true,
        summary: 'Session ID or its beginning; delete takes several; rename: also the new title',
        completes: { name: 'session', actions: { one: ['show', 'fork', 'export', 'rename'], several: ['delete'] } },
      },
    ],
    groups: [
      {
        title: 'Options',
        flags: [
          everywhere,
          { name: 'agent', value: 'NAME', summary: 'list: only sessions of this agent', completes: 'agent-name' },
          {
            name: 'status',
            value: 'STATUS',
            choices: sessionStatuses,
            repeatable: true,
            summary: `list: only sessions with this status: ${sessionStatuses.join(', ')}`,
          },
          { name: 'label', value: 'LABEL', repeatable: true, summary: 'list: only sessions with all of these labels' },
          { name: 'search', value: 'TEXT', summary: 'list: only sessions with these words in a message or answer' },
          { name: 'title', value: 'TEXT', summary: 'list: only sessions whose title contains TEXT' },
          { name: 'min-cost', value: 'USD', summary: 'list: only sessions that cost at least this much, in US dollars' },
          { name: 'max-cost', value: 'USD', summary: 'list: only sessions that cost at most this much, in US dollars' },
          { name: 'since', value: 'TIME', summary: 'list: only sessions that changed since TIME, such as 2026-11-01 or 7d' },
          { name: 'until', value: 'TIME', summary: 'list: only sessions that began before TIME' },
          {
            name: 'request',
            value: 'STEP',
            summary: 'show: print what the model was sent in this step, such as t1.s2',
            excludes: ['stream-json'],
          },
          { name: 'child', value: 'ID', summary: 'show: the session ID or agent path of the child that sent it', needs: 'request' },
          { name: 'attempt', value: 'NUMBER', summary: 'show: the attempt of the step (default: the last one)', needs: 'request' },
          dataDir,
          store,
          { ...json, excludes: ['stream-json'] },
          {
            name: 'stream-json',
            summary: 'show: print the events of the journal as lines of JSON',
            excludes: ['json'],
          },
          { name: 'verbose', short: 'v', summary: 'show: print the input and output of every call' },
          { name: 'at', value: 'SEQ', summary: 'fork: copy the events up to this one (default: all)' },
          { name: 'output', value: 'FILE', summary: 'export: write to FILE instead of standard output', completes: 'file' },
          { name: 'older', value: 'AGE', summary: 'prune: delete sessions whose last event is older than AGE, such as 30d' },
          { name: 'keep', value: 'COUNT', summary: 'prune: always keep this many of the newest sessions' },
          { name: 'dry-run', summary: 'prune, delete: print what would be deleted' },
        ],
      },
    ],
    notes: [
      'list: sessions of this project, newest first. States: running, with its process; unfinished (its process has exited); waiting for an answer; damaged; or how the session ended. If a session can be resumed, the command is shown. To give an ended session another turn: troupe run FILE PROMPT --resume ID.',
      'list --search: each word must be in the same message or answer, in any case, with or without accents; it may be the beginning of a longer word. Turns that have not ended are not searched, nor their cost counted. Dates and times are in UTC unless they have a zone.',
      'show: the request, the tree of what happened, the answer, diagnostics and totals over all turns. -v adds input and output of every call, 20 lines each. It reads the journal only and can run beside the process that drives the session.',
      'show --json: the outcome as run --json printed it, with the exit code of that run; for a session that has not ended, the state so far. For a session that has not ended, --stream-json prints no final outcome line. The exit code of show is 0, or 1 if the journal is damaged; it is then shown up to the damage.',
      'show --request: system prompt, messages, tools and parameters as the model got them, built again from the journal. --json prints them as they were sent. STEP is the id of a step, or its number if the session has one turn.',
      'fork: copy a session, or its beginning up to an event, into a new one. What was open is recorded as interrupted and never runs again; approvals for the session are not copied. --at takes the seq of an event, as show --stream-json prints it.',
      'export: one JSON document with the journal and the stored outputs, without the secrets of the configuration and the environment.',
      'rename: change the title that lists show.',
      'prune: delete ended sessions of all projects in the data folder that are older than --older and not among the newest --keep. Running and suspended sessions are never deleted.',
      'delete: delete sessions, including suspended ones. If one of them is running, none is deleted. Both commands remove journal, messages and stored outputs and shrink the database file.',
    ],
    examples: [
      { line: 'troupe sessions list', summary: 'find a session' },
      { line: 'troupe sessions list --everywhere --json', summary: 'all sessions, as JSON' },
      { line: 'troupe sessions list --status failed --search oslo', summary: 'failed sessions about Oslo' },
      { line: 'troupe sessions list --since 7d --min-cost 0.50', summary: 'sessions of the last week that cost 50 cents or more' },
      { line: 'troupe sessions show ID', summary: 'show what happened' },
      { line: 'troupe sessions show ID --json', summary: 'the outcome, as JSON' },
      { line: 'troupe sessions show ID --request t1.s2', summary: 'show what the model was sent in the second step' },
      { line: 'troupe sessions fork ID --at 12', summary: 'copy its first 12 events into a new session' },
      { line: 'troupe sessions export ID --output trip.json', summary: 'save it as one file' },
      { line: 'troupe sessions rename ID "Trip to Oslo"', summary: 'give it another title' },
      { line: 'troupe sessions prune --older 30d --keep 100', summary: 'delete ended sessions, except the newest 100' },
      { line: 'troupe sessions delete ID', summary: 'delete one session' },
    ],
  },
  {
    name: 'usage',
    summary: 'Show cost, tokens and turns by day, agent, model or person',
    arguments: [],
    groups: [
      {
        title: 'Options',
        flags: [
          { name: 'by', value: 'GROUP', choices: usageGroupings, summary: `Group by ${usageGroupings.join(', ')} (default: day)` },
          { name: 'since', value: 'TIME', summary: 'Count turns that ended since TIME, such as 2026-11-01 or 7d (default: 30 days)' },
          { name: 'until', value: 'TIME', summary: 'Count turns that ended before TIME' },
          dataDir,
          store,
          json,
          configFile,
        ],
      },
    ],
    notes: [
      'Turns of all projects in the data folder that have ended, deleted sessions included. Days are days in UTC; dates and times are in UTC unless they have a zone.',
      'Turns are those of root sessions; by agent and by model also those of children. p95: 95 of 100 turns took at most this long without waiting for people; by model: the requests of a turn.',
      'A person is the owner of a session: local for the command line, or a token.',
    ],
    examples: [
      { line: 'troupe usage', summary: 'the last 30 days, day by day' },
      { line: 'troupe usage --by model --since 7d', summary: 'models of the last week, the most expensive first' },
      { line: 'troupe usage --by agent --since 2026-10-01 --until 2026-11-01 --json', summary: 'agents of October, as JSON' },
    ],
  },
  {
    name: 'store',
    summary: 'Maintain the store: index, upgrade and copy it',
    arguments: [
      { name: 'ACTION', required: true, choices: storeActions, summary: 'The action: reindex, migrate or copy' },
      { name: 'URL', required: false, repeatable: true, summary: 'copy: where from, and where to' },
    ],
    groups: [
      {
        title: 'Options',
        flags: [{ ...dataDir, summary: 'Use the sessions in DIR (default: ~/.local/state/troupe)' }, store, json, configFile],
      },
    ],
    notes: [
      'reindex: read the journals of all sessions and build search index, cost and usage again. It adds sessions of older versions and repairs a damaged search index. Servers and runs can go on meanwhile. Sessions that cannot be read are named, and the exit code is then 1.',
      'migrate: create the tables of a PostgreSQL database, or upgrade them. Stop all processes of Troupe that use the database first. A database in a data folder is upgraded when it is opened.',
      'copy: copy a data folder to a PostgreSQL database without other sessions, and compare every journal and blob. Sessions must not be running. A copy that was interrupted can be repeated.',
    ],
    examples: [
      { line: 'troupe store reindex', summary: 'include sessions of an older version in search and usage' },
      { line: 'troupe store migrate --store postgres://db.example.com/troupe', summary: 'upgrade the tables of a database' },
      { line: 'troupe store copy sqlite:./state postgres://db.example.com/troupe', summary: 'move sessions to a database' },
    ],
  },
  {
    name: 'approvals',
    summary: 'List and revoke grants, answer open requests',
    arguments: [
      {
        name: 'ACTION',
        required: true,
        choices: approvalsActions,
        summary: 'The action: list, answer, drop or revoke',
      },
      {
        name: 'NAME',
        required: false,
        repeatable: true,
        summary: 'answer: a session or request ID and the answer; drop: session IDs; revoke: keys',
        completes: { name: 'waiting-session', actions: { one: ['answer'], several: ['drop'] } },
      },
    ],
    groups: [
      {
        title: 'Options',
        flags: [
          { name: 'content', value: 'JSON', summary: 'answer: the fields of a form, as a JSON object' },
          { name: 'all', summary: 'revoke: revoke all grants of this project' },
          everywhere,
          dataDir,
          store,
          json,
        ],
      },
    ],
    notes: [
      'list: open requests of all sessions, including running ones, and the grants of this project. A session grant ends with its session. A project grant applies in the folder where it was given, until it is revoked. A deny rule wins over both.',
      'answer: yes; no, with an optional reason; x to end the run; s or p to grant it for the session or the project (s1, p1 and so on for wider grants, as list shows them); for a question, a text or the number of an option; for a form, --content; for an address, yes once you are done; cancel dismisses either. The answer is stored and nothing runs until troupe run FILE --resume ID.',
      'drop: end a session without answering. It cannot continue this turn; its journal is kept.',
    ],
    examples: [
      { line: 'troupe approvals list', summary: 'show grants and open requests' },
      { line: 'troupe approvals answer ID yes', summary: 'approve the open request of a session' },
      { line: 'troupe approvals answer ID no use the other file', summary: 'deny it with a reason' },
      { line: 'troupe approvals drop ID', summary: 'end the session without an answer' },
      { line: "troupe approvals revoke 'command:npm test'", summary: 'ask again from now on' },
    ],
  },
  {
    name: 'mcp',
    summary: 'List, show and use MCP servers',
    arguments: [
      { name: 'ACTION', required: true, choices: mcpActions, summary: 'The action: list, show, call, login or logout' },
      { name: 'NAME', required: false, repeatable: true, summary: 'The server; call: also the tool and its input, a JSON object' },
    ],
    groups: [
      {
        title: 'Options',
        flags: [
          { name: 'connect', summary: 'list: connect to trusted servers and show their state' },
          { name: 'accept', summary: 'show: accept tools that changed since they were accepted' },
          { name: 'allow', value: 'PATTERN', repeatable: true, summary: 'call: run matching calls without asking, such as "files/*"' },
          { name: 'no-browser', summary: 'login: only print the URL of the login page' },
          agentFile,
          json,
          configFile,
        ],
      },
    ],
    notes: [
      'Servers are configured in mcpServers of .ai-agent.json, in .mcp.json and in agent files. A server of a project is started only if its file is trusted: troupe trust.',
      'show: the definition without secrets, tools with effect and approval, prompts, resources and instructions. Tools that are new or changed since the first use are withheld from agents; a terminal asks whether to accept them.',
      'call: rules, hooks and approval are those of a run. Without a terminal, a call that needs approval is denied (exit code 6) unless --allow matches. The exit code is 1 if the call fails.',
      'login: authorizes Troupe at a server on the network (OAuth). The browser returns to a port of this machine; if it is on another machine, paste the URL where it ends up.',
      'logout: revokes the tokens, if the authorization server can, and removes them.',
    ],
    examples: [
      { line: 'troupe mcp list --connect', summary: 'show all servers and whether they work' },
      { line: 'troupe mcp show files', summary: 'show one server and its tools' },
      { line: 'troupe mcp call files read_file \'{"path":"README.md"}\'', summary: 'call a tool' },
      { line: 'troupe mcp login github', summary: 'log in with the browser' },
    ],
  },
  {
    name: 'tools',
    summary: 'List the tools that agents can use here',
    arguments: [{ name: 'ACTION', required: true, choices: ['list'], summary: 'The action: list' }],
    groups: [
      {
        title: 'Options',
        flags: [
          { name: 'server', value: 'NAME', summary: 'Only the tools of this MCP server' },
          { name: 'agent', value: 'FILE', summary: 'Only the tools that this agent has', completes: 'agent' },
          json,
          configFile,
        ],
      },
    ],
    notes: ['Trusted MCP servers are started to list their tools. Approval is what applies without rules.'],
    examples: [
      { line: 'troupe tools list', summary: 'built-in tools, those of the configuration and of all servers' },
      { line: 'troupe tools list --agent review.ai', summary: 'the tools of one agent' },
    ],
  },
  {
    name: 'skills',
    summary: 'List the skills that agents can load here',
    arguments: [{ name: 'ACTION', required: true, choices: ['list'], summary: 'The action: list' }],
    groups: [{ title: 'Options', flags: [json, configFile] }],
    notes: [
      'A skill is a folder with a SKILL.md. Locations: .agents/skills and .claude/skills from here up to the project root; the folders in skills.directories of the configuration; the home folder; ai-agent/skills in /usr/local/share, /usr/share and /etc. If two skills have the same name, the nearest one is used.',
    ],
    examples: [{ line: 'troupe skills list', summary: 'show names, descriptions, locations and errors' }],
  },
] as const satisfies readonly CommandSpec[]

export type ProjectCommandName = (typeof projectCommands)[number]['name']
