import { TroupeError } from '../../src/contracts/index.ts'
import { parseScript } from '../../src/models/parse-script.ts'
import { code, made, page, table, textOf } from './markdown.ts'

/** The names that the reader of scripts lists when it is given something else. */
function namesIn(script: string): readonly string[] {
  try {
    parseScript(script, 'x.yaml')
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    const [{ message, remedy = '' } = { message: '' }] = error.problems
    const listed = /with (.*), not/.exec(message)?.[1] ?? /Known here: (.*)\./.exec(remedy)?.[1] ?? ''
    const names = listed.split(', ').map((name) => name.replaceAll('`', ''))
    if (names.length > 1) return names
  }
  throw new Error(`Nothing is listed for ${script}.`)
}

const stepTexts: { readonly [key: string]: string } = {
  reasoning: 'what it thinks before it speaks',
  text: 'what it says',
  calls: 'tools that it calls, a list',
  fault: 'what goes wrong in place of a whole reply',
  delay: 'how long it takes before it begins: `300ms`, `2s`, `1m`',
  usage: 'tokens that are reported; left out, they are estimated',
}
const callTexts: { readonly [key: string]: string } = {
  tool: 'the name of the tool; `agent__weather` is the agent `weather`',
  input: 'its input: a map, or JSON as text, which may be broken; left out, `{}`',
}
const usageTexts: { readonly [key: string]: string } = {
  input: 'sent',
  output: 'came back',
  cacheRead: 'of those sent, found in the cache',
  cacheWrite: 'of those sent, put into the cache',
  reasoning: 'of those that came back, thinking',
}
const faultTexts: { readonly [fault: string]: string } = {
  rate_limit: 'too many requests',
  auth: 'the key is refused',
  quota: 'the quota is used up',
  network: 'the connection broke',
  timeout: 'no answer in time',
  invalid_response: 'an answer that cannot be read',
  model: 'the provider failed',
  cut: 'what the step says comes, and then the stream ends without an end',
  silence: 'what the step says comes, and then nothing more, until a timeout',
}

export const exampleScript = `steps:
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
    [head, 'what'],
    names.map((name) => [code(name), textOf(texts, name)]),
  )

export const scriptsPage = page([
  ['# Scripts', made],
  [
    'The model `script/<file>` plays what a YAML file says: no LLM, no key, no network, and no cost. It is for tests and demonstrations. The path is relative to the file that names the model; on the command line, to the folder of the agent. A project that nobody has trusted cannot make a script the default of other agents. A script may have 4 MiB.',
    `\`\`\`yaml\n${exampleScript}\n\`\`\``,
  ],
  [
    '## Steps',
    '`steps` is a list, and the only key. Each step is one reply of the model: a request after n replies of the session gets reply n + 1, so sessions do not disturb each other, and a run that is taken up elsewhere goes on where it was. A step with a `fault` is one attempt that fails; it stands before the reply that the next attempt gets. Where a script has no reply left, the run fails and says so.',
    keyTable(namesIn('steps: [7]'), stepTexts),
    'A step has `text`, `calls` or `fault`. Anchors, aliases and merge keys are refused.',
  ],
  ['## Calls', keyTable(namesIn('steps: [{ calls: [7] }]'), callTexts)],
  ['## Usage', 'Whole numbers of tokens.', keyTable(namesIn('steps: [{ text: x, usage: 7 }]'), usageTexts)],
  ['## Faults', keyTable(namesIn('steps: [{ fault: qqqqqqqqqqqq }]'), faultTexts, 'fault')],
])

export const templateTexts: { readonly [name: string]: string } = {
  'agent.name': "the agent's name",
  'agent.description': 'its description',
  tools: 'the names and patterns of its `tools`, a list',
  'output.format': '`markdown`, `text` or `json`',
  'limits.maxToolTurns': 'the most steps of a turn',
}

export const exampleTemplate = `You are {{ agent.name }}: {{ agent.description }}.
{% if tools %}Your tools are {{ tools | join(", ") }}.{% endif %}
You have {{ limits.maxToolTurns }} steps.
{% include "rules/tone.md" %}`

export const templatesPage = page([
  ['# Templates', made],
  [
    'A prompt with `{{`, `{%` or `{#` in it is a template in the manner of Jinja2 (minijinja): expressions, filters, `if`, `for`, `set`, `macro`, `include`, `import`, `extends`, and comments. Any other prompt is taken as it is, and so is every prompt of files that were written for other programs. To write such marks as they are: `{% raw %}{{ so }}{% endraw %}`.',
    `\`\`\`jinja\n${exampleTemplate}\n\`\`\``,
  ],
  [
    '## What it may speak of',
    'Only what stands in the agent file, so that the same file always gives the same prompt: no variables of the environment, no time, no chance, no request. A name that there is not is an error, with its line and column.',
    table(
      ['name', 'what'],
      Object.entries(templateTexts).map(([name, text]) => [code(name), text]),
    ),
  ],
  [
    '## Files',
    'Included files lie below the folder of the agent file; links that lead out of it, hidden files and names that are worked out while rendering are refused. `{% include "notes.md" ignore missing %}` may be missing. They are templates too, up to 8 deep, 50 files and 1 MiB together.',
  ],
  [
    '## Bounds',
    'A template runs in a module of its own with 32 MiB of memory, for a bounded number of steps and at most a second. The prompt that comes out has at most 1,048,576 characters, and is not empty.',
  ],
])
