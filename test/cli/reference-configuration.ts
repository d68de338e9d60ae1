// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that

import { typeText } from '../../src/cli/arguments/agent-file-help.ts'
import { defaultKeys, sectionNames, sectionOf, sections } from '../../src/project/config/sections.ts'
import type { Shape } from '../../src/project/config/shape.ts'
import { variableOf } from '../../src/project/config/variables/option-variables.ts'
import { type AgentOption, type AgentOptionKey, agentOptions } from '../../src/project/index.ts'
import { patternBounds, searchBounds } from '../../src/project/registry/find-agent-paths.ts'
import { code, made, page, table, textOf } from './markdown.ts'
import { httpExample, httpKeyTexts, httpSection } from './reference-http.ts'

/** An example with every section. The tests load it. */
export const exampleConfig = {
  agents: ['./agents', './more/**/*.ai'],
  providers: { lab: { baseURL: 'https://models.example.org/v1', apiKey: '${LAB_API_KEY}', headers: { 'X-Team': 'research' } } },
  models: { fast: 'lab/small', careful: 'anthropic/claude-sonnet-5' },
  mcpServers: {
    github: { url: 'https://mcp.example.org/github', headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' }, tools: { deny: ['delete_*'] } },
    files: { command: 'npx', args: ['-y', 'files-server'], effects: { 'read_*': 'read' }, approval: { 'read_*': 'allow' } },
  },
  ...httpExample,
  defaults: { models: ['fast', 'careful'], parameters: { temperature: 0.2 }, limits: { maxCostUsd: 0.5, timeBudget: '10m' } },
  queues: { lab: { concurrent: 8, perMinute: 300 } },
  pricing: { 'lab/small': { input: 0.2, output: 0.8 } },
  unpriced: ['lab/large'],
  childrenOffered: 'each',
  toolsOffered: 'each',
  features: { 'night-trains': true },
  approvals: {
    rules: [{ allow: 'shell(git status*)' }, { deny: 'shell(git push*)', reason: 'A person pushes' }],
    onUnavailable: 'suspend',
  },
  sandbox: { hosts: ['packages.example.com'], memory: '1GB' },
  hooks: [{ name: 'guard', on: ['before_call'], tools: ['shell'], command: ['./guard.sh'], onFailure: 'closed', timeout: '30s' }],
  skills: { directories: ['../skills'], disabled: ['git-push'] },
  context: { agentsMd: true },
  extensions: { web_fetch: { search_url: 'https://search.example.org/?q={query}' } },
  headends: { port: 8080, hosts: ['agents.example.com'], origins: ['https://chat.example.com'], concurrency: { perToken: 8 } },
  store: { path: './state' },
  telemetry: { endpoint: 'http://localhost:4318/v1/traces' },
  webhooks: {
    outgoing: { ci: { url: 'https://ci.example.com/troupe', secret: '${WEBHOOK_SECRET}', events: ['failed', 'waiting'] } },
    incoming: {
      issues: { agent: 'triage', input: 'Triage: {{ body.issue.title }}', secret: '${GITHUB_SECRET}', signature: 'github' },
    },
  },
}

const keyTexts: { readonly [key: string]: string } = {
  'providers.<name>.kind': 'its protocol; default: by its name, else OpenAI-compatible',
  'providers.<name>.baseURL': 'its base URL',
  'providers.<name>.apiKey': 'its API key',
  'providers.<name>.headers.<name>': 'an HTTP header for every request',
  'providers.<name>.api': 'which of the two OpenAI APIs to use; default: `responses`',
  'models.<name>':
    'the model of this alias, or another alias; `<name>` is one word without `/`, and not `auto`, `rehearsal`, `script` or the name of a provider',
  'mcpServers.<name>.type': 'default: `stdio` with `command`, `http` with `url`',
  'mcpServers.<name>.command': 'the program of a server over standard input and output',
  'mcpServers.<name>.args': 'its arguments',
  'mcpServers.<name>.env.<name>': 'its variables, besides `PATH`, `HOME` and the like',
  'mcpServers.<name>.cwd':
    'its working directory, relative to this file; default: the folder of this file, or the workspace for your own servers',
  'mcpServers.<name>.url': 'the address of a server over HTTP',
  'mcpServers.<name>.headers.<name>': 'headers of every request',
  'mcpServers.<name>.timeout': 'for each request; default: 60s',
  'mcpServers.<name>.auth.type':
    '`oauth`: a person logs in with `troupe mcp login`; `client_credentials`: without a person; default: `oauth`',
  'mcpServers.<name>.auth.clientId': 'a client that the authorization server knows',
  'mcpServers.<name>.auth.clientSecret': 'its secret',
  'mcpServers.<name>.auth.clientMetadataUrl': 'where the metadata of the client is published',
  'mcpServers.<name>.auth.redirectPort': 'the port of the loopback redirect; default: any',
  'mcpServers.<name>.auth.privateKey': 'the key of the client in PEM format, instead of a secret',
  'mcpServers.<name>.auth.scopes': 'scopes to ask for; default: those that the server names',
  'mcpServers.<name>.auth.issuer': 'the only authorization server that gets credentials',
  'mcpServers.<name>.tools.allow': 'patterns of tools that are offered; default: all',
  'mcpServers.<name>.tools.deny': 'patterns of tools that are not offered',
  'mcpServers.<name>.effects.<name>': 'by pattern of tools: what a call does; the last match applies; default: `write`',
  'mcpServers.<name>.approval.<name>': 'by pattern of tools: whether calls need approval; the last match applies; default: `ask`',
  'mcpServers.<name>.queue.concurrent': 'calls at the same time, over all sessions',
  'mcpServers.<name>.queue.perMinute': 'calls per minute, over all sessions',
  'mcpServers.<name>.protocol': 'the revision of the protocol; default: `auto` for HTTP, else `2025-11-25`',
  'mcpServers.<name>.connect': '`eager`: connect when the runtime starts; default: `lazy`, when a session needs it',
  'mcpServers.<name>.required': 'whether a session fails without the server; default: `false`',
  'mcpServers.<name>.share': '`process`: all sessions of a process share one connection; default: `session`',
  'queues.<name>.concurrent': 'at the same time; `<name>` is a provider, a server or a tool',
  'queues.<name>.perMinute': 'per minute',
  'pricing.<name>.input': 'input tokens; `<name>` is `provider/model`',
  'pricing.<name>.output': 'output tokens',
  'pricing.<name>.cacheRead': 'input tokens read from the cache; default: as `input`',
  'pricing.<name>.cacheWrite': 'input tokens written to the cache; default: as `input`',
  unpriced: 'names of models, as used by agents',
  childrenOffered: '`each`: one tool per child; `directory`: `find_agents` and `delegate_task`',
  toolsOffered: '`each`: all tools of servers in each request; `search`: `find_tools` and `use_tool`',
  'features.<name>': 'whether the feature is on',
  'approvals.onUnavailable':
    'what to do if a call needs approval and nobody is there: suspend the turn, or deny the call; default: `suspend`',
  hooks: 'see below',
  'skills.directories': 'more folders to search for skills, relative to this file',
  'skills.disabled': 'names of skills that no agent can load',
  'context.agentsMd': 'whether sessions get the `AGENTS.md` files of the project; default: `true`',
  'extensions.<name>.<name>':
    'a value of `config` of the manifest of this extension; it replaces the whole value there, and layers are merged by key',
  'headends.host': 'the address to listen at; default: `127.0.0.1`',
  'headends.port': 'the port to listen at; `0` means any free one; default: `3900`',
  'headends.publicUrl':
    'where others reach the server, for addresses that it tells people and platforms; its host is one of `hosts`; default: the address to listen at',
  'headends.hosts':
    'names that clients use besides `localhost`, `127.0.0.1`, `[::1]` and the address; requests with another `Host` are refused',
  'headends.origins': 'origins of pages of other sites that may send requests; default: none',
  'headends.maxBodyBytes': 'the largest body of a request; default: 20MB',
  'headends.concurrency.total': 'turns of all requests at the same time; default: 256',
  'headends.concurrency.perHeadend': 'turns of one protocol at the same time; default: 256',
  'headends.concurrency.perAgent': 'turns of one agent at the same time; default: 128',
  'headends.concurrency.perToken': 'turns of one token at the same time; default: 128',
  'headends.concurrency.queue': 'requests that may wait for a turn; more are refused; default: 512',
  'headends.concurrency.queueMs': 'how long a request may wait; default: 30s',
  'headends.streams.total': 'streams that are open at the same time; more are refused with status 429; default: 2000',
  'headends.streams.perToken': 'open streams of one token; default: 500',
  'headends.drain': 'how long running turns may continue when the server stops; default: 30s',
  'headends.legacyTransports': 'whether MCP is also served over SSE and WebSockets; default: `false`',
  'telemetry.endpoint': 'the address of an OpenTelemetry collector that takes traces over HTTP',
  'telemetry.headers.<name>': 'an HTTP header for every request to it',
  'telemetry.content': 'whether traces contain arguments, results and answers; default: `false`',
  'webhooks.outgoing.<name>.url': 'the address that gets the requests',
  'webhooks.outgoing.<name>.secret': 'what requests are signed with: `whsec_` and 24 to 64 bytes in base64',
  'webhooks.outgoing.<name>.events': 'what it is told of; default: `completed`, `failed` and `waiting`',
  'webhooks.outgoing.<name>.agents': 'only sessions of these agents; `*` at the end matches any rest; default: all',
  'webhooks.incoming.<name>.agent': 'the agent that requests to `/hooks/<name>` start',
  'webhooks.incoming.<name>.input': 'template of the input, over `body` and `headers`; without text, nothing is started',
  'webhooks.incoming.<name>.secret': 'what the sender signs with; for `standard`: `whsec_` and 24 to 64 bytes in base64',
  'webhooks.incoming.<name>.signature': 'how it signs: Standard Webhooks, or `X-Hub-Signature-256`; default: `standard`',
  'webhooks.incoming.<name>.token': 'for senders that do not sign: the token that they send, at least 8 characters',
  'webhooks.incoming.<name>.header': 'the header with the token; default: `Authorization: Bearer`',
  'webhooks.incoming.<name>.id':
    'template of the id of a delivery, which is taken once; default: the header `webhook-id`, `X-GitHub-Delivery` or `Idempotency-Key`',
  'webhooks.incoming.<name>.key': 'template: deliveries with the same text go to one session; default: each starts a session',
  'webhooks.incoming.<name>.budget.costUsdPerDay': 'US dollars that its sessions may cost in a day (UTC)',
  'webhooks.incoming.<name>.budget.tokensPerDay': 'tokens that its sessions may use in a day',
  'webhooks.incoming.<name>.requestsPerMinute': 'requests per minute',
  'store.path': 'the data folder, relative to this file',
  'store.url': 'a [PostgreSQL database](../postgresql.md) for the sessions. A variable in it may have any characters',
  'store.listenUrl': 'a direct connection for notifications, if `url` is a pooler in transaction mode',
  'store.pool': 'the maximum number of connections of a process; default: 10',
  agents: 'see below',
  ...httpKeyTexts,
}

type KeyRow = readonly [key: string, what: string, value: string, example: string]

function rowsOf(shape: Shape, key: string): readonly KeyRow[] {
  switch (shape.kind) {
    case 'fields':
      return Object.entries(shape.of).flatMap(([name, inner]) => rowsOf(inner, `${key}.${name}`))
    case 'names':
      return rowsOf(shape.of, `${key}.<name>`)
    case 'value':
      return [[key, shape.summary ?? textOf(keyTexts, key), typeText(shape.type), code(shape.example)]]
    case 'text':
      return [[key, textOf(keyTexts, key), 'text', code(JSON.stringify(shape.example))]]
    case 'or':
      return rowsOf(shape.of, key)
    case 'any':
      return key in keyTexts ? [[key, textOf(keyTexts, key), 'JSON', code('"Rome"')]] : []
    case 'list':
      return [[key, textOf(keyTexts, key), 'a list', code(shape.example)]]
    default:
      return shape satisfies never
  }
}

const oneLine = (value: unknown): string => JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ')

export const configurationPage = page([
  ['# Configuration', made],
  [
    'Configuration is optional. It is in `.ai-agent.json`, with variables in `.ai-agent.env` beside it. Servers in `.mcp.json` are read, too. Unknown keys are errors. All errors are reported together, with line and column.',
    `\`\`\`json\n{\n${Object.entries(exampleConfig)
      .map(([name, said]) => `  "${name}": ${oneLine(said)}`)
      .join(',\n')}\n}\n\`\`\``,
  ],
  [
    '## Where',
    'The first layer that sets a key wins; lists are not merged. An untrusted project has only a limited effect (see below).',
    table(
      ['layer', 'place', 'trust'],
      [
        ['given', 'the file of `--config`, such as `lab.json`, with its variables in `lab.env` beside it', 'not needed'],
        ['project', 'the working directory', 'needed'],
        ['agent', 'the folder of the agent file', 'needed'],
        ['user', '`~/.ai-agent`', 'not needed'],
        ['system', '`/etc/ai-agent`', 'not needed'],
      ],
    ),
    'Flags override [`TROUPE_` variables](variables.md), these override the agent file, and that overrides `defaults`. `troupe config show --origin` shows where each value comes from.',
  ],
  [
    '## Sections',
    'Sections that need trust have no effect in a project until a person trusts the file in its current form (`troupe trust`). The same applies to everything that reads a variable, to `script/` models, and to agents outside the folder.',
    'Until then, `models` and `defaults.models` of your own `~/.ai-agent` or `/etc/ai-agent` win, and the smaller number applies for `defaults.limits`, `defaults.parameters.maxOutputTokens` and `queues`. Everything that has no effect is reported. The trust prompt shows where requests would go, what would run and what would be allowed.',
    table(
      ['section', 'meaning', 'a project needs trust', 'with trust it can'],
      sectionNames.map((name) => {
        const { trust, summary, trustEffect: power = '' } = sectionOf(name)
        const needed = trust === 'needed' ? 'yes' : power === '' ? 'no' : 'for parts'
        return [code(name), summary, needed, power]
      }),
    ),
  ],
  [
    '## Keys',
    '`<name>` is a name that you choose. `$schema` is allowed for editors and ignored.',
    table(
      ['key', 'meaning', 'value', 'example'],
      sectionNames.flatMap((name) => rowsOf(sections[name].shape, name)).map(([key, ...rest]) => [code(key), ...rest]),
    ),
  ],
  [
    '## Agents',
    `Each entry is a file, a folder (with all its subfolders) or a pattern with \`*\`, \`**\`, \`?\`, \`[a-z]\` and one \`{a,b}\`. \`node_modules\`, \`.git\` and linked folders are skipped. All entries together may cover ${searchBounds.folders} folders, ${searchBounds.depth} levels and ${searchBounds.files} files; a pattern has at most ${patternBounds.characters} characters. More is an error that names the limit.`,
    'An untrusted project can list only agents inside its own folder; links that leave the folder are refused.',
    'Paths in an agent file (`input.schemaRef`, `output.schemaRef`, `script/` models, `agents`) must stay inside the project of the agent. Exceptions: the agent file itself is trusted, or it is in `~/.ai-agent` or `/etc/ai-agent`. The project is the nearest repository (`.git`) around the agent; else the nearest folder with an `.ai-agent.json`, except your home folder and its parents; else the folder of the agent.',
    'Trust in the configuration of a project does not let agent files leave it. Trust in an agent file does not cover links inside the project that lead out of it. Files that a prompt includes never leave the folder of the agent.',
  ],
  httpSection,
  [
    '## Rules, sandbox and hooks',
    'All layers of `approvals`, `sandbox`, `hooks`, `skills` and `context` apply together:',
    [
      '- **Rules**: in one layer the last matching rule wins; between layers the strictest. Rules of an agent file can only be stricter.',
      '- **Sandbox**: sandboxing wins; lists are intersected; the smaller number applies. By default there is no network, no variable, and only the workspace is writable.',
      '- **Untrusted projects** can only be stricter. Their allow rules, hooks and skill folders need trust.',
    ].join('\n'),
    'Hooks of layers with higher precedence run first, so those of the machine have the last word. [All keys of a hook](hooks.md). Write `${` as `$${` in them.',
  ],
  [
    '## Extensions',
    'Values of `extensions.ID` win over what `troupe extensions setup` stored, and that wins over `config` of the manifest. They apply to [trusted](../extensions.md#permissions-and-trust) extensions, from the next start or `troupe extensions reload`. A disabled extension stays disabled: `troupe extensions enable ID`. If a variable is missing, the extension is not loaded, and the others are. An id that does not exist is an error in a file of the project, and a warning in your own.',
  ],
  [
    '## Variables in the configuration',
    '`${NAME}` in a text is replaced by a variable, `${NAME:-default}` has a default, and `$${` is a literal `${`. Variables are searched in the `.ai-agent.env` of the same layer, then of the other layers, then in the environment. They are read only if the setting is used. A missing variable is an error that lists the places that were searched.',
    '`.ai-agent.env` has lines of `KEY=VALUE`, `KEY="VALUE"` (with `\\n`, `\\"` and `\\\\`) or `KEY=\'VALUE\'`, optionally with `export`, empty lines and `#` comments. Nothing in it is expanded. Values of variables with secret names are redacted, also if another layer overrides them.',
  ],
])

export const variablesPage = page([
  ['# Variables', made],
  [
    'A `TROUPE_` environment variable sets an option for every agent of a run. It overrides agent files and configuration; flags override it. An empty variable sets nothing. Values are written as in an agent file. Unknown `TROUPE_` variables, and those in `.ai-agent.env`, have no effect and are reported.',
    table(
      ['variable', 'option', 'flag', 'value', 'example'],
      defaultKeys.map((key) => {
        const option: AgentOption = agentOptions[key as AgentOptionKey]
        const { flag, type, example } = option
        const ownFlag = key === 'models' ? code('--model') : flag ? code(`--${flag.name}`) : ''
        return [code(variableOf(key)), code(key), ownFlag, typeText(type), code(example)]
      }),
    ),
  ],
  [
    '## Other variables',
    table(
      ['variable', 'meaning'],
      [
        ['`XDG_STATE_HOME`', 'journals, grants and the trust list are in its subfolder `troupe`; default: `~/.local/state/troupe`'],
        [
          '`NODE_COMPILE_CACHE`',
          'where compiled code is kept, so that commands start faster; default: `compiled` in that subfolder, once it exists',
        ],
        [
          '`TROUPE_STORE`',
          'where sessions are stored: `sqlite:DIR` or [`postgres://…`](../postgresql.md). `--store` and `--data-dir` override it; it overrides `store` of the configuration',
        ],
        ['`NO_COLOR`, `TERM=dumb`', 'no colours, and plain lines instead of the live tree'],
        ['`*_API_KEY`, `*_BASE_URL`, `OLLAMA_HOST`', 'keys and base URLs of [models](models.md)'],
      ],
    ),
    'Troupe also reads variables that the [configuration](configuration.md) names as `${NAME}`, and no others.',
  ],
])
