// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that

import { defaultKeys, sectionNames, sectionOf, sections, sectionWords } from '../../src/agents/config/sections.ts'
import type { Shape } from '../../src/agents/config/shape.ts'
import { variableOf } from '../../src/agents/config/variables/option-variables.ts'
import { type AgentOption, type AgentOptionKey, agentOptions } from '../../src/agents/index.ts'
import { patternBounds, searchBounds } from '../../src/agents/registry/find-agent-paths.ts'
import { typeText } from '../../src/cli/options/option-types.ts'
import { code, made, page, table, textOf } from './markdown.ts'

/** Everything that may be said, once. Loaded by the tests. */
export const exampleConfig = {
  agents: ['./agents', './more/**/*.ai'],
  providers: { lab: { baseURL: 'https://models.example.org/v1', apiKey: '${LAB_API_KEY}', headers: { 'X-Team': 'research' } } },
  models: { fast: 'lab/small', careful: 'anthropic/claude-sonnet-5' },
  defaults: { models: ['fast', 'careful'], parameters: { temperature: 0.2 }, limits: { maxCostUsd: 0.5, timeBudget: '10m' } },
  queues: { lab: { concurrent: 8, perMinute: 300 } },
  pricing: { 'lab/small': { input: 0.2, output: 0.8 } },
  unpriced: ['lab/large'],
  childrenOffered: 'each',
  approvals: {
    rules: [{ allow: 'shell(git status*)' }, { deny: 'shell(git push*)', reason: 'A person pushes' }],
    onUnavailable: 'suspend',
  },
  sandbox: { hosts: ['packages.example.com'], memory: '1GB' },
  hooks: [{ name: 'guard', on: ['before_call'], tools: ['shell'], command: ['./guard.sh'], onFailure: 'closed', timeout: '30s' }],
  skills: { directories: ['../skills'], disabled: ['git-push'] },
  context: { agentsMd: true },
  store: { path: './state' },
}

const keyTexts: { readonly [key: string]: string } = {
  'providers.<name>.kind': 'whose format it speaks; left out: what its name stands for, else that of OpenAI-compatible servers',
  'providers.<name>.baseURL': 'where it is',
  'providers.<name>.apiKey': 'what lets us in',
  'providers.<name>.headers.<name>': 'a header that every request to it has',
  'providers.<name>.api': "which of OpenAI's two interfaces is spoken; left out: `responses`",
  'models.<name>':
    'the model that the name stands for, or another such name; `<name>` is one word without `/`, and none of `auto`, `rehearsal` and `script`; so too the name of a provider',
  'queues.<name>.concurrent': 'at once; `<name>` is a provider, a server or a tool',
  'queues.<name>.perMinute': 'in a minute',
  'pricing.<name>.input': 'tokens that are sent; `<name>` is `provider/model`',
  'pricing.<name>.output': 'tokens that come back',
  'pricing.<name>.cacheRead': 'tokens that the provider had in its cache; left out: as `input`',
  'pricing.<name>.cacheWrite': 'tokens that it put there; left out: as `input`',
  unpriced: 'names of models, as agents name them',
  childrenOffered: '`each`: a tool for each; `directory`: `find_agents` and `delegate_task`',
  'features.<name>': 'whether it is on',
  'approvals.onUnavailable':
    'what happens to a call that a person is asked about where none is there: the turn waits for one, or the call is refused; left out: `suspend`',
  hooks: 'see below',
  'skills.directories': 'folders, relative to this file, below which skills are looked for too',
  'skills.disabled': 'names of skills that no agent has',
  'context.agentsMd': 'whether sessions are told what the `AGENTS.md` files of the project say; left out: `true`',
  'store.path': 'a folder, relative to this file',
  agents: 'see below',
}

type KeyRow = readonly [key: string, what: string, value: string, example: string]

function rowsOf(shape: Shape, key: string): readonly KeyRow[] {
  switch (shape.kind) {
    case 'fields':
      return Object.entries(shape.of).flatMap(([name, inner]) => rowsOf(inner, `${key}.${name}`))
    case 'names':
      return rowsOf(shape.of, `${key}.<name>`)
    case 'option':
      return [[key, shape.option.summary, typeText(shape.option.type), code(shape.option.example)]]
    case 'any':
      return []
    case 'list':
      return [[key, textOf(keyTexts, key), 'a list', code(shape.example)]]
    default:
      return [[key, textOf(keyTexts, key), ...valueTexts(shape)]]
  }
}

function valueTexts(shape: Extract<Shape, { readonly kind: 'text' | 'choice' | 'whole' | 'amount' | 'flag' }>): readonly [string, string] {
  switch (shape.kind) {
    case 'text':
      return ['text', code(JSON.stringify(shape.example))]
    case 'choice':
      return [shape.of.join(', '), code(JSON.stringify(shape.of[0]))]
    case 'whole':
      return [`a whole number from ${shape.least}`, code(shape.example)]
    case 'amount':
      return ['a number from 0', code(shape.example)]
    case 'flag':
      return ['true or false', code('true')]
    default:
      return shape satisfies never
  }
}

const oneLine = (value: unknown): string => JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ')

export const configurationPage = page([
  ['# Configuration', made],
  [
    'Nothing has to be configured. What is, stands in `.ai-agent.json`, with `.ai-agent.env` beside it for variables; servers of other programs in `.mcp.json` are read too. A key that is not listed here is an error, told with its line and column, together with everything else that is wrong.',
    `\`\`\`json\n{\n${Object.entries(exampleConfig)
      .map(([name, said]) => `  "${name}": ${oneLine(said)}`)
      .join(',\n')}\n}\n\`\`\``,
  ],
  [
    '## Where',
    'The first that says something counts, key by key; a list is taken as a whole. What a project says that nobody has trusted counts in part (see below).',
    table(
      ['layer', 'place', 'trust'],
      [
        ['given', 'the file behind `--config`, such as `lab.json`, with its variables in `lab.env` beside it', "a person's own"],
        ['project', 'the working directory', 'needed'],
        ['agent', 'the folder of the agent file', 'needed'],
        ['user', '`~/.ai-agent`', "a person's own"],
        ['system', '`/etc/ai-agent`', "a person's own"],
      ],
    ),
    'A flag goes before a [`TROUPE_` variable](variables.md), that before the agent file, that before `defaults`. `troupe config show --origin` tells who has the last word.',
  ],
  [
    '## Sections',
    'What a project says in a section that needs trust does not count until a person has trusted the file as it is (`troupe trust`); so too whatever would read a variable, a `script/` model, and agents outside of the folder. Where your own `~/.ai-agent` or `/etc/ai-agent` says which model is asked, in `models` or `defaults.models`, that counts until the project is trusted; of `defaults.limits`, `defaults.parameters.maxOutputTokens` and `queues` the smaller number counts until then. What waits is told, never dropped in silence; whoever is asked sees where requests would go, what would be run and what would be allowed, whole and as it is read.',
    table(
      ['section', 'what', 'a project needs trust', 'with trust it could'],
      sectionNames.map((name) => {
        const { trust, use } = sectionOf(name)
        const { summary, power = '' } = sectionWords[name]
        const needed = trust === 'needed' ? 'yes' : power === '' ? 'no' : 'for some of it'
        return [code(name), use === 'later' ? `${summary}; has no effect yet` : summary, needed, power]
      }),
    ),
  ],
  [
    '## Keys',
    '`<name>` is a name that you choose. `$schema`, for editors, is let stand and not read.',
    table(
      ['key', 'what', 'value', 'example'],
      sectionNames.flatMap((name) => rowsOf(sections[name].shape, name)).map(([key, ...rest]) => [code(key), ...rest]),
    ),
  ],
  [
    '## Agents',
    `Each entry is a file, a folder (everything below it) or a pattern with \`*\`, \`**\`, \`?\`, \`[a-z]\` and one \`{a,b}\`. \`node_modules\`, \`.git\` and folders behind links are not entered. All entries together may lead through ${searchBounds.folders} folders, ${searchBounds.depth} levels deep, to ${searchBounds.files} files; a pattern has at most ${patternBounds.characters} characters. Beyond that nothing is taken, and the error names the bound.`,
    'What a project lists that nobody has trusted stays inside of its folder; a link that leads out of it counts as leaving. The same holds for what an agent file names by a path, `input.schemaRef`, `output.schemaRef`, `script/` models and `agents`: it stays inside of the project that the agent lies in, wherever you stand, unless a person has trusted the agent file itself, or it lies in `~/.ai-agent` or `/etc/ai-agent`. That project is the nearest repository (`.git`) around the agent, else the nearest folder around it with an `.ai-agent.json`, other than your home folder and those above it, else the folder of the agent. Trust in the configuration of a project opens nothing outside of it to agent files, and trust in an agent file no path that is written inside of the project and leads out of it by a link, which may have come later. Files that a prompt includes never leave the folder of the agent.',
  ],
  [
    '## Rules and walls',
    'In `approvals`, `sandbox`, `hooks`, `skills` and `context` every layer has a say. Of the rules of one layer the last that fits a call counts, and of several layers the strictest; `approvals.rules` of an agent file can only be stricter still. Of a `sandbox` that several layers speak of, walls go before none, lists are what all of those name that name any, and the smaller number counts; where nobody says anything, no host is reached, nothing but the workspace is written to, and no variable is given. A project that nobody has trusted can only make it stricter: its rules that allow something, its hooks and its folders of skills wait for trust.',
    'A hook is asked `on` any of `before_call`, `after_call`, `before_request` and `at_stop`; the first two can be kept to some `tools`. It is a `command`, a program and its arguments without a shell, or a `module`, whose path is relative to this file. `onFailure` says what it means that it fails: `closed` stops what it was asked about, `open` lets it go on. `timeout` is at most an hour. The hooks of stronger layers are asked first: those of the machine have the last word. `${` itself is written `$${` here.',
  ],
  [
    '## Variables in it',
    '`${NAME}` in any text stands for a variable, `${NAME:-default}` for one that may be missing; `$${` is `${` itself. They are looked for in the `.ai-agent.env` of the same layer, then of the other layers, then in the environment of the process, and only where what they stand in is used. A variable that is missing stops the start, with every place that was looked into.',
    '`.ai-agent.env` has lines of `KEY=VALUE`, `KEY="VALUE"` (with `\\n`, `\\"` and `\\\\`) or `KEY=\'VALUE\'`, with or without `export` before them, empty lines and `#` comments; nothing in it is expanded. Values of keys, tokens and the like are hidden wherever they could appear, also those that another of the same name shadows.',
  ],
])

export const variablesPage = page([
  ['# Variables', made],
  [
    'A `TROUPE_` variable of the environment sets an option for every agent of a run: it goes before the agent files and before the configuration, and a flag goes before it. An empty one sets nothing. Values are written as in an agent file. One that no option has is told. In `.ai-agent.env` they set nothing, and that is told too.',
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
    '## Others that are read',
    table(
      ['variable', 'what'],
      [
        ['`XDG_STATE_HOME`', 'journals and the list of what is trusted are kept in `troupe` below it; else in `~/.local/state/troupe`'],
        ['`NO_COLOR`, `TERM=dumb`', 'no colours, and lines in place of a live tree'],
        ['`*_API_KEY`, `*_BASE_URL`, `OLLAMA_HOST`', 'keys and addresses of [models](models.md)'],
      ],
    ),
    'Whatever else the [configuration](configuration.md) names as `${NAME}` is read too, and nothing beyond that.',
  ],
])
