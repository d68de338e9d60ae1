import { modelSources } from '../../src/models/by-name/model-sources.ts'
import { knownProviders } from '../../src/models/known-providers.ts'

const test = 'test/models/reference.test.ts'
const code = (text: string): string => `\`${text}\``
const codes = (texts: readonly string[]): string => texts.map(code).join(', ')

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

const named = Object.entries(modelSources).map(([name, { rest, summary }]) => [
  code(rest === undefined ? name : `${name}/<${rest}>`),
  summary,
])
const providers = Object.entries(knownProviders).map(([name, { label, home, urlVariables, keys, access, defaultModel, prices }]) => [
  code(name),
  label,
  `${codes(keys)}${access === 'local' ? ', if its server wants one' : ''}`,
  codes(urlVariables),
  code(home),
  defaultModel === undefined ? 'the first that its server lists' : code(defaultModel),
  prices === undefined ? 'free on this machine, else unknown' : 'from the bundled table',
])

/** docs/reference/models.md */
export const modelsPage = `${[
  '# Models',
  `<!-- Made from the tables of the code by ${test}; to make it anew: TROUPE_WRITE=1 npx vitest run ${test} -->`,
  '## Names',
  table(['name', 'what it is'], named),
  'A bare name such as `claude-sonnet-5` is looked for in the bundled table of prices, which knows whose it is. Aliases may stand for any name.',
  'Any server that speaks the format of OpenAI is a provider too: set `LAB_BASE_URL`, and if it wants a key `LAB_API_KEY`, and name its models `lab/<model>`; or give it to `modelAdapter` under `providers`.',
  '## Providers',
  table(['name', 'provider', 'key', 'address from', 'else', 'what `auto` takes', 'prices'], providers),
  '`auto` takes the first provider that is configured and has a key, then the first in this order whose key is there, then the first of the servers on this machine that answers within 300 ms. Nothing is sent to any other machine to find out.',
  '## What is sent',
  [
    '- A key that is configured goes before a variable, and a key in a header of the configuration before a variable too: a key goes only where it was meant to go. Redirects are not followed.',
    '- `cache: false` is heeded by models of Anthropic, which wait to be asked for a cache. The others cache by themselves; a notice says that the setting has no effect.',
    '- A schema for the answer is sent where the model is known to take one, and asked for in words everywhere else. The answer is checked either way.',
    '- What a model is said not to be able to do is not asked of it: tools and reasoning are left out with a notice; images and files make it fail, so that the next model in line is asked.',
    '- OpenRouter signs reasoning in `reasoning_details`. The package that speaks its format does not read them, so the reasoning goes back to the model without its signature.',
  ].join('\n'),
].join('\n\n')}\n`
