// The commands of the server. Part of the one list in command-specs.ts.
import type { CommandSpec, FlagSpec } from './command-specs.ts'
import { configFile, dataDir, json, store } from './shared-flags.ts'

export const tokenActions = ['create', 'list', 'revoke'] as const
export type TokenAction = (typeof tokenActions)[number]

export const webhookActions = ['list', 'retry'] as const
export type WebhookAction = (typeof webhookActions)[number]

/** Flags of `serve` and `up`. */
const agentFlags = [
  {
    name: 'agent',
    value: 'FILE',
    repeatable: true,
    summary: 'Serve this agent file, folder or pattern (default: those that `agents list` shows)',
    completes: 'agent',
  },
  configFile,
  {
    name: 'allow',
    value: 'PATTERN',
    repeatable: true,
    summary: 'Run matching calls without asking, such as "shell(npm test)"',
  },
  { name: 'deny', value: 'PATTERN', repeatable: true, summary: 'Never run matching calls' },
  { name: 'trust', summary: "Trust this project's files in their current form" },
] as const satisfies readonly FlagSpec[]
const drain: FlagSpec = {
  name: 'drain',
  value: 'DURATION',
  summary: 'How long running turns may continue when the server stops (default: 30s)',
}
const storedIn: FlagSpec = {
  name: 'data-dir',
  value: 'DIR',
  summary: 'Store journals and tokens in DIR (default: ~/.local/state/troupe)',
  completes: 'folder',
  excludes: ['store'],
}
const logFormat: FlagSpec = {
  name: 'log-format',
  value: 'FORMAT',
  choices: ['text', 'json'],
  summary: 'Log format: text or json (default: text on a terminal, else json)',
}

export const serveCommands = [
  {
    name: 'up',
    summary: 'Run the assistant of this folder, with its extensions',
    arguments: [],
    groups: [
      { title: 'Agents', flags: agentFlags },
      {
        title: 'Server',
        flags: [
          { name: 'host', value: 'ADDRESS', summary: 'Listen at this address (default: 127.0.0.1)' },
          { name: 'port', value: 'PORT', summary: 'Listen at this port; 0 means any free one (default: 3900)' },
          { name: 'watch', summary: 'Load changed extensions again, while you write them' },
          drain,
          storedIn,
          store,
          logFormat,
          { name: 'quiet', short: 'q', summary: 'Log errors and warnings only', excludes: ['verbose'] },
          { name: 'verbose', short: 'v', summary: 'At a terminal, show the log of the server, too', excludes: ['quiet'] },
        ],
      },
    ],
    notes: [
      'At a terminal you talk to the assistant in this terminal. Elsewhere it runs as a service: other channels, the protocols of troupe serve, and a log on standard error.',
      'A supervisor starts the process that does the work, and starts it again on request, after a crash and when it is blocked. Conversations continue. An extension that took the process down is quarantined: it is not loaded until its files change or you run troupe extensions enable ID.',
      '--watch: a new, changed or removed extension restarts the process. A changed one that was trusted runs in its former form until you run troupe extensions trust ID. Those in ~/.ai-agent/extensions are always trusted.',
      'Ctrl-C and SIGTERM: no new work is accepted, and running turns continue up to --drain; then they are suspended until the next start. A second signal ends everything immediately.',
    ],
    examples: [
      { line: 'troupe up', summary: 'start the assistant and talk to it' },
      { line: 'troupe up --log-format json < /dev/null', summary: 'as a service' },
    ],
  },
  {
    name: 'serve',
    summary: 'Serve agents: web chat, REST, MCP, OpenAI and Anthropic APIs',
    arguments: [],
    groups: [
      { title: 'Agents', flags: agentFlags },
      {
        title: 'Server',
        flags: [
          { name: 'host', value: 'ADDRESS', summary: 'Listen at this address (default: 127.0.0.1)', excludes: ['stdio'] },
          { name: 'port', value: 'PORT', summary: 'Listen at this port; 0 means any free one (default: 3900)', excludes: ['stdio'] },
          drain,
          storedIn,
          store,
          {
            name: 'stdio',
            summary: 'Serve MCP over standard input and output instead of HTTP',
            excludes: ['host', 'port', 'legacy-transports', 'open'],
          },
          { name: 'open', summary: 'Open the web chat in the browser', excludes: ['stdio'] },
          { name: 'legacy-transports', summary: 'Serve MCP also over SSE at /mcp/sse and WebSockets at /mcp/ws', excludes: ['stdio'] },
          logFormat,
          { name: 'quiet', short: 'q', summary: 'Log errors and warnings only' },
        ],
      },
    ],
    notes: [
      'Every request needs a token. The token of this machine is created once in the data folder, in the file local-token that only you can read. With the text format, the address is printed with it.',
      'Another address than a loopback address needs a token of troupe token create, and the names that clients use in headends.hosts of the configuration.',
      'A call that needs approval suspends its session until somebody answers: POST /v1/sessions/ID/approvals/ID, or troupe approvals.',
      'Changed agent files, configuration and skills take effect with the next turn. After an invalid change the server keeps the last valid version, logs the errors and shows them at /ready. Changed modules with tools need a new start.',
      'SIGTERM and Ctrl-C: no new work is accepted, and running turns continue up to --drain; then they are suspended. The next troupe serve in this folder continues them. A second signal ends the process immediately.',
    ],
    examples: [
      { line: 'troupe serve', summary: 'serve the agents of this folder' },
      { line: 'troupe serve --agent trip.ai --port 8080', summary: 'serve one agent at another port' },
      { line: 'troupe serve --host 0.0.0.0', summary: 'serve other machines; needs a token' },
      { line: 'troupe serve --stdio', summary: 'as an MCP server that another program starts' },
    ],
  },
  {
    name: 'token',
    summary: 'Create, list or revoke tokens of the server',
    arguments: [
      { name: 'ACTION', required: true, choices: tokenActions, summary: 'The action: create, list or revoke' },
      { name: 'NAME', required: false, summary: 'revoke: the name of the token' },
    ],
    groups: [
      {
        title: 'New token',
        flags: [
          { name: 'name', value: 'NAME', summary: 'create: its name: small letters, digits, dots and hyphens' },
          {
            name: 'scopes',
            value: 'LIST',
            summary: 'create: run, read, approve and admin, separated by commas (default: run,read)',
          },
          {
            name: 'agents',
            value: 'LIST',
            summary: 'create: names of agents, such as trip,mail-* (default: all)',
            completes: 'agent-name',
          },
          { name: 'budget', value: 'LIST', summary: 'create: limits of a day, such as 5usd/day,100000tokens/day' },
          { name: 'rate', value: 'LIST', summary: 'create: limits of requests, such as 60/minute,1000/day' },
          { name: 'expires', value: 'AGE', summary: 'create: how long it is valid, such as 90d (default: until it is revoked)' },
        ],
      },
      { title: 'Options', flags: [dataDir, store, json, configFile] },
    ],
    notes: [
      'create: prints the token once. Only a hash of it is stored. A session belongs to the token that started it; other tokens cannot see it.',
      'Scopes: run starts and continues sessions, read shows them, approve answers requests, admin does all of it with the sessions of everybody.',
      'list and revoke take effect immediately, also in a server that is running.',
    ],
    examples: [
      { line: 'troupe token create --name ci --agents review --budget 5usd/day', summary: 'a token for one agent with a budget' },
      { line: 'troupe token list', summary: 'show names, scopes and limits' },
      { line: 'troupe token revoke ci', summary: 'refuse it from now on' },
    ],
  },
  {
    name: 'audit',
    summary: 'List approvals and administrative actions',
    arguments: [],
    groups: [
      {
        title: 'Options',
        flags: [
          { name: 'since', value: 'TIME', summary: 'Entries since a time, such as 2026-11-17, or of the last 24h or 7d' },
          dataDir,
          store,
          json,
          configFile,
        ],
      },
    ],
    notes: ['Entries are kept in the data folder: answers to requests, deleted sessions, created and revoked tokens.'],
    examples: [{ line: 'troupe audit --since 7d', summary: 'the entries of the last week' }],
  },
  {
    name: 'webhooks',
    summary: 'List notifications that wait for delivery, or deliver failed ones again',
    arguments: [
      { name: 'ACTION', required: true, choices: webhookActions, summary: 'The action: list or retry' },
      { name: 'ID', required: false, summary: 'retry: the id of the notification' },
    ],
    groups: [
      { title: 'Selection', flags: [{ name: 'all', summary: 'retry: all notifications that were given up' }] },
      { title: 'Options', flags: [dataDir, json, configFile] },
    ],
    notes: [
      'Outgoing webhooks are in `webhooks` of the configuration. A delivery that fails is repeated after 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h and 24 h. Then it is given up, and kept for 30 days with the last error.',
      'retry: a process that runs agents of this folder delivers them within seconds, otherwise the next one does.',
    ],
    examples: [
      { line: 'troupe webhooks list', summary: 'show what could not be delivered, and why' },
      { line: 'troupe webhooks retry --all', summary: 'deliver again what was given up' },
    ],
  },
] as const satisfies readonly CommandSpec[]

export type ServeCommandName = (typeof serveCommands)[number]['name']
