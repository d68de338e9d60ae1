import { TroupeError } from '../../../contracts/index.ts'
import { type ProjectReport, serversOf } from '../../../project/index.ts'
import { knownNames } from '../../../util/nearest-names.ts'
import type { RunInvocation } from '../../arguments/parse-arguments.ts'
import type { Host } from '../../terminal/process-host.ts'
import { connectMs, type NamedServer, trustedServer, withDeadline, withServer } from './project-servers.ts'

/** How a person names a prompt and its arguments. */
interface PromptSyntax {
  readonly prompt: string
  readonly argument: string
  readonly example: string
}
const flags: PromptSyntax = {
  prompt: '--prompt',
  argument: '--prompt-arg',
  example: 'Write it like --prompt github/review --prompt-arg number=7.',
}
/** In a chat. */
export const promptCommand: PromptSyntax = {
  prompt: '/prompt',
  argument: 'An argument',
  example: 'Write it like /prompt github/review number=7.',
}

/** The text of `--prompt server/name`. */
export async function readServerPrompt(
  { name: written, args, syntax = flags }: NonNullable<RunInvocation['serverPrompt']> & { readonly syntax?: PromptSyntax },
  { registry, setup }: Pick<ProjectReport, 'registry' | 'setup'>,
  host: Pick<Host, 'env'>,
): Promise<string> {
  const [, server, name] = /^([^/]+)\/(.+)$/s.exec(written) ?? []
  if (server === undefined || name === undefined)
    throw new TroupeError('usage', `${syntax.prompt} must name a server and one of its prompts, not ${JSON.stringify(written)}.`, {
      remedy: syntax.example,
    })
  const own = registry.ok ? registry.agents.flatMap((owner) => owner.servers.map((each): NamedServer => ({ ...each, owner }))) : []
  const found = trustedServer({ servers: [...own, ...serversOf(setup.config)] }, server, written)
  return withServer(found, { setup, host }, async ({ source }) => {
    const prompts = await withDeadline(connectMs, source.prompts())
    const prompt = prompts.find((each) => each.name === name)
    const names = prompts.map((each) => `${server}/${each.name}`)
    if (!prompt)
      throw new TroupeError('usage', `The MCP server ${server} has no prompt ${name}.`, { remedy: knownNames(written, names, 'prompt') })
    const given = argumentsOf(args, syntax)
    const missing = prompt.arguments.filter((each) => each.required && !(each.name in given)).map((each) => each.name)
    const unknown = Object.keys(given).filter((key) => !prompt.arguments.some((each) => each.name === key))
    if (missing.length + unknown.length > 0) {
      const what = [...missing.map((key) => `${key} is missing`), ...unknown.map((key) => `${key} is unknown`)].join(', ')
      const remedy = `The arguments are: ${prompt.arguments.map((each) => each.name).join(', ') || 'none'}. ${syntax.example}`
      throw new TroupeError('usage', `The arguments of the prompt ${written} are wrong: ${what}.`, { remedy })
    }
    const messages = await withDeadline(connectMs, source.prompt(name, given))
    return messages.map(({ role, text }) => (role === 'assistant' ? `Assistant: ${text}` : text)).join('\n\n')
  })
}

function argumentsOf(written: readonly string[], { argument, example }: PromptSyntax): { readonly [name: string]: string } {
  return Object.fromEntries(
    written.map((each) => {
      const split = each.indexOf('=')
      if (split < 1) throw new TroupeError('usage', `${argument} must be KEY=VALUE, not ${JSON.stringify(each)}.`, { remedy: example })
      return [each.slice(0, split), each.slice(split + 1)]
    }),
  )
}
