import { TroupeError } from '../../src/contracts/index.ts'
import { parseScript } from '../../src/models/parse-script.ts'
import { code, made, page, table, textOf } from './markdown.ts'
import { manifestVariableTable } from './reference-extensions.ts'

/** The names that the script parser lists for a wrong value. */
function namesIn(script: string): readonly string[] {
  try {
    parseScript(script, 'x.yaml')
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    const [{ message, remedy = '' } = { message: '' }] = error.problems
    const listed = /with (.*), not/.exec(message)?.[1] ?? /Use one of (.*)\./.exec(remedy)?.[1] ?? ''
    const names = listed.split(', ').map((name) => name.replaceAll('`', ''))
    if (names.length > 1) return names
  }
  throw new Error(`Nothing is listed for ${script}.`)
}

const scriptTexts: { readonly [key: string]: string } = {
  steps: 'the replies, a list',
  pace: 'tokens a second at which text and reasoning arrive, in pieces, from 1 to 10,000; default: they arrive immediately',
  price: 'US dollars per million tokens; default: the script costs nothing',
}
const priceTexts: { readonly [key: string]: string } = {
  input: 'input tokens',
  output: 'output tokens',
  cacheRead: 'input tokens read from the cache; default: the price of input',
  cacheWrite: 'input tokens written to the cache; default: the price of input',
}
const stepTexts: { readonly [key: string]: string } = {
  reasoning: 'the reasoning before the answer',
  text: 'the text of the reply',
  calls: 'a list of tool calls',
  fault: 'a failure instead of a complete reply',
  delay: 'time before the reply starts: `300ms`, `2s`, `1m`',
  usage: 'reported tokens; default: an estimate',
}
const callTexts: { readonly [key: string]: string } = {
  tool: 'the name of the tool; `agent__weather` is the agent `weather`',
  input: 'its input: a map, or JSON as text, which may be invalid; default: `{}`',
}
const usageTexts: { readonly [key: string]: string } = {
  input: 'input tokens',
  output: 'output tokens',
  cacheRead: 'input tokens read from the cache',
  cacheWrite: 'input tokens written to the cache',
  reasoning: 'output tokens for reasoning',
}
const faultTexts: { readonly [fault: string]: string } = {
  rate_limit: 'too many requests',
  auth: 'the key is rejected',
  quota: 'the quota is exhausted',
  network: 'the connection failed',
  timeout: 'no answer in time',
  invalid_response: 'a reply that cannot be parsed',
  model: 'the provider failed',
  cut: 'the content of the step arrives, then the stream ends without its end marker',
  silence: 'the content of the step arrives, then nothing until a timeout',
}

export const exampleScript = `pace: 60
price: { input: 3, output: 15 }
steps:
  - fault: rate_limit                     # the first attempt fails
  - text: Let me look.
    calls:
      - tool: agent__weather
        input: { prompt: Oslo }
      - tool: agent__trains
        input: { prompt: Oslo on Saturday }
  - reasoning: Rain is no reason to stay.
    text: Take the train at nine, and a coat.
    delay: 300ms
    usage: { input: 1200, output: 40 }`

const keyTable = (names: readonly string[], texts: { readonly [key: string]: string }, head = 'key'): string =>
  table(
    [head, 'meaning'],
    names.map((name) => [code(name), textOf(texts, name)]),
  )

export const scriptsPage = page([
  ['# Scripts', made],
  [
    'The model `script/<file>` plays the replies in a YAML file: no LLM, no key, no network, no charge. Use it for tests and demos. The path is relative to the file that names the model; on the command line, to the folder of the agent. An untrusted project cannot make a script the default of other agents. A script has at most 4 MiB.',
    `\`\`\`yaml\n${exampleScript}\n\`\`\``,
  ],
  ['## Keys', keyTable(namesIn('{ steps: [{ text: x }], qqqqqqqqqqqq: 1 }'), scriptTexts)],
  [
    '## Price',
    'Prices are recorded, as the replies are: costs and budgets behave as with a real model, but nothing is charged. The cost of a step is computed from its `usage`, or from an estimate. A price in `pricing` of the configuration overrides it. A run prints a notice if a script has a price.',
    keyTable(namesIn('{ steps: [{ text: x }], price: 7 }'), priceTexts),
  ],
  [
    '## Steps',
    'Each step is one reply: a request after n replies of the session gets reply n + 1. So sessions are independent, and a resumed session continues at its position. A step with a `fault` is one failed attempt; the next attempt gets the step after it. If a script has no reply left, the run fails.',
    keyTable(namesIn('steps: [7]'), stepTexts),
    'A step has `text`, `calls` or `fault`. Anchors, aliases and merge keys are refused.',
  ],
  ['## Calls', keyTable(namesIn('steps: [{ calls: [7] }]'), callTexts)],
  ['## Usage', 'Numbers of tokens, as integers.', keyTable(namesIn('steps: [{ text: x, usage: 7 }]'), usageTexts)],
  ['## Faults', keyTable(namesIn('steps: [{ fault: qqqqqqqqqqqq }]'), faultTexts, 'fault')],
])

export const templateTexts: { readonly [name: string]: string } = {
  'agent.name': "the agent's name",
  'agent.description': 'its description',
  tools: 'the names and patterns of its `tools`, a list',
  'output.format': '`markdown`, `text` or `json`',
  'limits.maxToolTurns': 'the maximum number of steps in a turn',
}

export const exampleTemplate = `You are {{ agent.name }}: {{ agent.description }}.
{% if tools %}Your tools are {{ tools | join(", ") }}.{% endif %}
You have {{ limits.maxToolTurns }} steps.
{% include "rules/tone.md" %}`

export const templatesPage = page([
  ['# Templates', made],
  [
    'A prompt that contains `{{`, `{%` or `{#` is a Jinja2 template (minijinja): expressions, filters, `if`, `for`, `set`, `macro`, `include`, `import`, `extends` and comments. Other prompts, and all prompts in files of other programs, are used unchanged. To write the markers themselves: `{% raw %}{{ so }}{% endraw %}`.',
    `\`\`\`jinja\n${exampleTemplate}\n\`\`\``,
  ],
  [
    '## Variables',
    'A template sees only values of the agent file, so the same file always gives the same prompt: no environment, no time, no random numbers, no request. An unknown name is an error, with its line and column.',
    table(
      ['name', 'meaning'],
      Object.entries(templateTexts).map(([name, text]) => [code(name), text]),
    ),
  ],
  [
    '## Templates of extensions',
    'A template of `agent.instructions` in a `manifest.yaml` has these variables instead. It is rendered when the extension is found, so it knows what the manifest says, not what `setup` stored. Included files are in the folder of the extension, else in the project.',
    manifestVariableTable(),
  ],
  [
    '## Files',
    'Included files must be inside the folder of the agent file. Links that leave it, hidden files and computed names are refused. `{% include "notes.md" ignore missing %}` makes a file optional. Included files are templates, too: at most 8 levels, 50 files and 1 MiB in total.',
  ],
  [
    '## Limits',
    'A template runs in its own WebAssembly module with 32 MiB of memory, a limited number of steps and at most three seconds. The resulting prompt must not be empty and has at most 1,048,576 characters.',
  ],
])
