import { type InputContract, TroupeError } from '../../contracts/index.ts'
import { schemaValidator } from '../../tools/index.ts'
import { shellWord } from '../../util/shell-word.ts'

export interface PromptTarget {
  /** The file of the agent, as written. */
  readonly file: string
  readonly input: InputContract
}

/** Checks the prompt of an agent with JSON input against its schema, as for calls by other agents. */
export async function checkPrompt(prompt: string, { file, input }: PromptTarget): Promise<TroupeError | undefined> {
  if (input.format !== 'json') return undefined
  const message = await problemOf(prompt, input.schema)
  if (message === undefined) return undefined
  const remedy = `Pass JSON that matches its schema; to see the schema: troupe run ${shellWord(file)} --help`
  return new TroupeError('usage', 'The command line is invalid.', { problems: [{ place: 'PROMPT', message, remedy }] })
}

async function problemOf(prompt: string, schema: Extract<InputContract, { format: 'json' }>['schema']): Promise<string | undefined> {
  let value: unknown
  try {
    value = JSON.parse(prompt)
  } catch {
    return 'The prompt is not JSON; this agent requires JSON.'
  }
  const found = (await schemaValidator().compile(schema))(value)
  return found.ok ? undefined : `The prompt does not match the input schema of the agent: ${found.problems.join('; ')}.`
}
