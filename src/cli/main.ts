import { readFile } from 'node:fs/promises'
import { TroupeError } from '../contracts/index.ts'
import { exitCodeOfError, exitCodes } from './exit-codes.ts'
import { helpText } from './help-text.ts'
import { type Host, processHost } from './host.ts'
import { type Invocation, parseArguments } from './parse-arguments.ts'
import { errorDocument, errorLines, troupeError } from './print-errors.ts'

/** Runs a command line and answers with its exit code. Whatever a command needs is loaded when it is asked for. */
export async function main(argv: readonly string[] = process.argv.slice(2), host: Host = processHost()): Promise<number> {
  const parsed = parseArguments(argv)
  if (!parsed.ok) return fail(parsed.error, parsed.json, host)
  const { invocation } = parsed
  try {
    const code = await perform(invocation, host)
    const { failure } = host.stdout
    return failure ? await fail(unwritten(failure), false, host) : code
  } catch (error) {
    return fail(error, invocation.kind === 'run' && invocation.output === 'json', host)
  }
}

async function perform(invocation: Invocation, host: Host): Promise<number> {
  switch (invocation.kind) {
    case 'version':
      await host.stdout.line(await version())
      return exitCodes.done.code
    case 'help':
      await host.stdout.write(helpText(invocation.command))
      return exitCodes.done.code
    case 'run': {
      const { runCommand } = await import('./run-command.ts')
      return runCommand(invocation, host)
    }
    case 'demo': {
      const { demoCommand } = await import('./demo-command.ts')
      return demoCommand(host)
    }
    default:
      return invocation satisfies never
  }
}

async function fail(thrown: unknown, json: boolean, host: Host): Promise<number> {
  const error = troupeError(thrown)
  if (json) await host.stdout.line(JSON.stringify(errorDocument(error)))
  await host.stderr.lines(errorLines(error, host.paint))
  return exitCodeOfError(error)
}

function unwritten(cause: Error): TroupeError {
  return new TroupeError('internal', `Standard output cannot be written: ${cause.message}.`, {
    remedy: 'Free some space, or write elsewhere.',
    cause,
  })
}

async function version(): Promise<string> {
  const manifest: { readonly version: string } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  return manifest.version
}
