import type { Caller } from './caller.ts'
import { HttpError } from './http-error.ts'
import type { TokenRegistry } from './tokens.ts'

/** Tokens are taken from headers only: cookies would be sent by pages of other sites. */
export async function authenticate(headers: Headers, tokens: TokenRegistry): Promise<{ readonly caller: Caller; readonly token: string }> {
  const token = tokenOf(headers)
  if (token === undefined)
    throw new HttpError('unauthorized', 'This route needs a token.', {
      remedy: 'Send it as "Authorization: Bearer TOKEN". `troupe serve` prints a token; `troupe token create` makes others.',
    })
  const caller = await tokens.find(token)
  if (!caller)
    throw new HttpError('unauthorized', 'The token is wrong, expired or revoked.', {
      remedy: 'Use the token that `troupe serve` printed, or create one with `troupe token create`.',
    })
  return { caller, token }
}

const maxTokenChars = 512

/** `x-api-key`: clients of Anthropic send it on every route. */
function tokenOf(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  const token = bearer ?? headers.get('x-api-key') ?? undefined
  return token !== undefined && token.length <= maxTokenChars ? token : undefined
}
