import type { SandboxPolicy, ToolFailure } from '../../../contracts/index.ts'

/*
 * Whether a command that failed did so because of the walls, and what it wanted.
 *
 * 1. The door to the network knows whom it refused. Otherwise the walls have no voice of their own, so the command's words are
 *    read: only its last ones, and only where they have the form in which programs and systems report such an error.
 * 2. Anybody can print such words, to be let out. So whoever is asked is told where they come from.
 */

export interface FailedCommand {
  /** What it printed, as far as it was kept. */
  readonly text: string
  readonly refusedHosts: readonly string[]
  readonly policy: SandboxPolicy
}

/** A program that fails says so at its end, perhaps with a few lines about where it was. */
const lastLines = 25
const longestLine = 300

/** What is guarded inside of the workspace can not be replaced either: it is "busy". */
const noWriting = [
  // As the system says it, behind the name of a program and a file.
  /^[^\s:][^:]*: .*(?:Read-only file system|Device or resource busy)(?: \(os error \d+\))?['")\]]*\.?$/i,
  /^(?:Uncaught )?(?:\w*Error: )?(?:EROFS: read-only file system|EBUSY: resource busy or locked), /,
  /^npm (?:ERR!|error) (?:code )?(?:EROFS|EBUSY)\b/,
  /^\w*Error: \[Errno (?:16|30)\] /,
]

const noName =
  '(?:Temporary failure in name resolution|Name or service not known|No address associated with hostname|Network is unreachable)'
const noNetwork = [
  new RegExp(`^[^\\s:][^:]*: (?:.*: )?${noName}\\.?$`, 'i'),
  /^curl: \((?:5|6|7)\) /,
  /^wget: unable to resolve host address /,
  /^(?:fatal|error|ssh): .*\b(?:could not resolve (?:host|proxy|hostname)|unable to connect to)\b/i,
  /^(?:\[cause\]: )?(?:Uncaught )?(?:\w*Error: )?(?:getaddrinfo (?:ENOTFOUND|EAI_AGAIN) \S|connect ENETUNREACH )/,
  /^npm (?:ERR!|error) .*\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b/,
  /^(?:\w+\.)*\w*(?:Error|gaierror): .*(?:\[Errno -[235]\]|Failed to resolve|Name or service not known)/,
  /^(?:E|W|Err:\d+): .*(?:Temporary failure resolving|Could not resolve) /,
  /^(?:Caused by: |\[\d+\] )?(?:Couldn't|Could not) resolve host/i,
  /\bdial tcp(?: |: lookup ).*(?:no such host|network is unreachable|server misbehaving|i\/o timeout)/,
  /^(?:error|Caused by): .*\b(?:dns error|failed to lookup address)/,
]

export function sandboxDenial({ text, refusedHosts, policy }: FailedCommand): ToolFailure | undefined {
  if (refusedHosts.length > 0) {
    return hit(`The sandbox refused connections: ${refusedHosts.join('; ')}.`)
  }
  const words = lastWords(text)
  const written = said(words, noWriting)
  if (written !== undefined) return hit(`The output suggests that the sandbox denied a write: ${written}`)
  const reached = said(words, noNetwork)
  if (reached === undefined) return undefined
  const hosts =
    policy.hosts.length === 0 ? 'the sandbox has no network' : `the sandbox allows only ${policy.hosts.join(', ')}, through its proxy`
  return hit(`The output suggests that the sandbox denied network access (${hosts}): ${reached}`)
}

const lastWords = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-lastLines)

const said = (words: readonly string[], forms: readonly RegExp[]): string | undefined =>
  words.map((line) => line.slice(0, longestLine)).find((line) => forms.some((form) => form.test(line)))

const hit = (message: string): ToolFailure => ({
  class: 'sandbox',
  message,
  remedy: 'Work without it or inside the workspace. The user may also allow this command to run outside the sandbox.',
})
