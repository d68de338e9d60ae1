import type { SandboxPolicy, ToolFailure } from '../../../contracts/index.ts'
import type { Ending } from '../../sandbox/index.ts'

// Whether a command failed because of the sandbox, and what it needed.
//
// 1. The proxy knows which hosts it refused. Otherwise the output of the command is read: its last lines, and only those in the
//    form in which programs and systems report such an error.
// 2. A command can print such a line without that error. So the message says that it comes from the command's output.

interface FailedCommand extends Pick<Ending, 'refusedHosts' | 'readOnly'> {
  readonly text: string
  readonly policy: SandboxPolicy
}

/** A program reports its error at the end, perhaps with a few more lines. */
const lastLines = 25
const longestLine = 300

/** A read-only file in the workspace cannot be replaced either: it is "busy". */
const noWriting = [
  // The text of the system, after the name of a program and a file.
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

/** Unix sockets. */
const noSocket = [
  /^[^\s:][^:]*: .*Address family not supported by protocol(?: \(os error 97\))?['")\]]*\.?$/i,
  /^(?:Uncaught )?(?:\w*Error: )?\w+ EAFNOSUPPORT\b/,
  /^\w*Error: \[Errno 97\] /,
]

export function sandboxDenial({ text, refusedHosts, readOnly, policy }: FailedCommand): ToolFailure | undefined {
  if (refusedHosts.length > 0) return denial(`The sandbox refused connections: ${refusedHosts.join('; ')}.`)
  const lines = lastLinesOf(text)
  const unwritten = firstMatch(lines, noWriting)
  if (unwritten !== undefined) {
    const file = readOnly.filter((path) => unwritten.includes(path)).toSorted((one, other) => other.length - one.length)[0]
    if (file === undefined) return denial(`The output suggests that the sandbox denied a write: ${unwritten}`)
    return denial(`"${file}" is read-only in the sandbox, because programs outside run or trust it: ${unwritten}`, howToChange)
  }
  const unopened = firstMatch(lines, noSocket)
  if (unopened !== undefined) return denial(`The output suggests that the sandbox denied a Unix socket; it has none: ${unopened}`)
  const unreached = firstMatch(lines, noNetwork)
  if (unreached === undefined) return undefined
  const hosts =
    policy.hosts.length === 0 ? 'the sandbox has no network' : `the sandbox allows only ${policy.hosts.join(', ')}, through its proxy`
  return denial(`The output suggests that the sandbox denied network access (${hosts}): ${unreached}`)
}

const lastLinesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-lastLines)

const firstMatch = (lines: readonly string[], forms: readonly RegExp[]): string | undefined =>
  lines.map((line) => line.slice(0, longestLine)).find((line) => forms.some((form) => form.test(line)))

const outside = 'The user may also allow this command to run outside the sandbox.'
const howToChange = `Work without it, or change the file with write_file, which asks the user. ${outside}`

const denial = (message: string, remedy = `Work without it or inside the workspace. ${outside}`): ToolFailure => ({
  class: 'sandbox',
  message,
  remedy,
})
