import { existsSync, readFileSync } from 'node:fs'
import { TroupeError } from '../contracts/index.ts'
import type { OverrideArguments } from '../project/index.ts'
import { helpText } from './arguments/help-text.ts'
import { type HelpTopic, type Invocation, parseArguments } from './arguments/parse-arguments.ts'
import { reportError } from './commands/run/report-error.ts'
import { columnsOn } from './terminal/columns.ts'
import type { DisplayOptions, OutputForm } from './terminal/display-options.ts'
import { exitCodes } from './terminal/exit-codes.ts'
import { Interruption } from './terminal/interruption.ts'
import { troupeError } from './terminal/print-errors.ts'
import { withColour } from './terminal/print-messages.ts'
import { type Host, processHost } from './terminal/process-host.ts'

/** Runs a command line and returns its exit code. The code of a command is loaded on demand. */
export async function main(argv: readonly string[] = process.argv.slice(2), host: Host = processHost()): Promise<number> {
  const parsed = parseArguments(argv, existsSync)
  if (!parsed.ok) return fail(await withOverrides(parsed.error, parsed.overrides), parsed, host)
  const { invocation, store } = parsed
  const form: Form = { output: 'answer', display: defaultDisplay, ...invocation }
  try {
    const code = await perform(invocation, store === undefined ? host : { ...host, env: { ...host.env, TROUPE_STORE: store } }, argv)
    const { failure } = host.stdout
    return failure ? await fail(outputError(failure), { ...form, output: 'answer' }, host) : code
  } catch (error) {
    return fail(error, form, host)
  }
}

/** Nothing else of the package is loaded for it. The file is at the same distance from the sources and from the built code. */
const version = (): string => JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** How a failure is reported. */
interface Form {
  readonly output: OutputForm
  readonly display: DisplayOptions
}
const defaultDisplay: DisplayOptions = { detail: 'normal', logFormat: 'text', color: 'auto' }

async function perform(invocation: Invocation, host: Host, argv: readonly string[]): Promise<number> {
  switch (invocation.kind) {
    case 'version':
      await host.stdout.line(version())
      return exitCodes.done.code
    case 'help':
      await host.stdout.text(await helpAbout(invocation.about, host))
      return exitCodes.done.code
    case 'completion':
      await host.stdout.text(await (await import('./commands/completion/completion-script.ts')).completionScript(invocation.shell))
      return exitCodes.done.code
    case 'candidates': {
      const { candidates } = await import('./commands/completion/candidates.ts')
      await host.stdout.lines(await candidates(invocation, host))
      return exitCodes.done.code
    }
    case 'nothing':
      // On standard error and with code 2, so that a script does not take the help for an answer.
      await host.stderr.text(helpText())
      return exitCodes.usage.code
    case 'run': {
      // Before anything is loaded, so that an interrupt while loading is reported, too.
      const interruption = new Interruption(host)
      const { runCommand } = await interruption.before(import('./commands/run/run-command.ts'))
      return runCommand(invocation, host, interruption)
    }
    case 'chat': {
      const interruption = new Interruption(host)
      const { chatCommand } = await interruption.before(import('./commands/chat/chat-command.ts'))
      return chatCommand(invocation, host, interruption)
    }
    case 'demo': {
      const interruption = new Interruption(host)
      if (invocation.web) {
        const { webDemoCommand } = await interruption.before(import('./commands/demo/web-demo-command.ts'))
        return webDemoCommand(invocation, argv, { host, interruption })
      }
      const { demoCommand } = await interruption.before(import('./commands/demo/demo-command.ts'))
      return demoCommand(invocation, host, interruption)
    }
    case 'serve': {
      const interruption = new Interruption(host)
      const { serveCommand } = await interruption.before(import('./commands/serve/serve-command.ts'))
      return serveCommand(invocation, { host, interruption })
    }
    case 'up':
      return (await import('./commands/kernel/up-command.ts')).upCommand(invocation, argv, host)
    case 'token':
      return (await import('./commands/token/token-command.ts')).tokenCommand(invocation, host)
    case 'audit':
      return (await import('./commands/audit/audit-command.ts')).auditCommand(invocation, host)
    case 'webhooks':
      return (await import('./commands/webhooks/webhooks-command.ts')).webhooksCommand(invocation, host)
    case 'extensions':
      return (await import('./commands/kernel/extensions-command.ts')).extensionsCommand(invocation, host)
    case 'schedules':
      return (await import('./commands/kernel/schedules-command.ts')).schedulesCommand(invocation, host)
    case 'events':
      return (await import('./commands/kernel/events-command.ts')).eventsCommand(invocation, host)
    case 'validate':
      return (await import('./commands/validate-command.ts')).validateCommand(invocation, host)
    case 'agents':
      return (await import('./commands/agents-command.ts')).agentsCommand(invocation, host)
    case 'init':
      return (await import('./commands/init-command.ts')).initCommand(invocation, host)
    case 'doctor':
      return (await import('./commands/doctor-command.ts')).doctorCommand(invocation, host)
    case 'config':
      return (await import('./commands/config-command.ts')).configCommand(invocation, host)
    case 'trust':
      return (await import('./commands/trust/trust-command.ts')).trustCommand(invocation, host)
    case 'approvals':
      return (await import('./commands/approvals/approvals-command.ts')).approvalsCommand(invocation, host)
    case 'sessions':
      return (await import('./commands/sessions/sessions-command.ts')).sessionsCommand(invocation, host)
    case 'usage':
      return (await import('./commands/usage/usage-command.ts')).usageCommand(invocation, host)
    case 'store':
      return (await import('./commands/store-command.ts')).storeCommand(invocation, host)
    case 'mcp':
      return (await import('./commands/mcp/mcp-command.ts')).mcpCommand(invocation, host)
    case 'tools':
      return (await import('./commands/mcp/tools-command.ts')).toolsCommand(invocation, host)
    case 'skills':
      return (await import('./commands/skills-command.ts')).skillsCommand(invocation, host)
    default:
      return invocation satisfies never
  }
}

async function helpAbout(about: HelpTopic | undefined, host: Host): Promise<string> {
  const most = columnsOn(host.stdout)
  switch (about?.kind) {
    case undefined:
      return helpText(undefined, most)
    case 'command':
      return helpText(about.command, most)
    case 'agent-file': {
      const { agentFileHelp } = await import('./arguments/agent-file-help.ts')
      return agentFileHelp(most)
    }
    case 'agent': {
      const { agentHelp } = await import('./arguments/agent-help.ts')
      return agentHelp(about.file, about, host)
    }
    default:
      return about satisfies never
  }
}

function fail(thrown: unknown, { output, display }: Form, host: Host): Promise<number> {
  return reportError(troupeError(thrown), { output, host: withColour(host, display), display })
}

/** Adds the errors of overridden settings, so that all errors of a command line are reported together. */
async function withOverrides(error: TroupeError, written: OverrideArguments): Promise<TroupeError> {
  if (written.settings.length === 0 && (written.flags ?? []).length === 0) return error
  const { parseOverrides } = await import('../project/index.ts')
  try {
    parseOverrides(written)
    return error
  } catch (other) {
    if (!(other instanceof TroupeError)) throw other
    const problems = [...error.problems, ...other.problems]
    const remedy = error.remedy
    return new TroupeError('usage', `The command line has ${problems.length} errors.`, {
      problems,
      ...(remedy !== undefined && { remedy }),
    })
  }
}

function outputError(cause: Error): TroupeError {
  return new TroupeError('internal', `Standard output cannot be written: ${cause.message}.`, {
    remedy: 'Free some disk space, or redirect the output elsewhere.',
    cause,
  })
}
