import { expect, test } from 'vitest'
import { type AgentOption, agentOptionKeys, agentOptions, parseAgentFile } from '../../project/index.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { agentFileHelp } from './agent-file-help.ts'
import { type CommandSpec, commands, commonFlags, flagsOf, usageOf } from './command-specs.ts'
import { helpText } from './help-text.ts'
import { parseArguments } from './parse-arguments.ts'

test('the overview names every command, common flag and exit code', () => {
  const text = helpText()
  for (const { name, summary } of commands) expect(text).toMatch(new RegExp(`^  ${name}\\b.*${summary}$`, 'm'))
  for (const { name, summary } of commonFlags) expect(text).toMatch(new RegExp(`--${name} .*${summary}$`, 'm'))
  for (const { code, summary } of Object.values(exitCodes)) expect(text).toMatch(new RegExp(`^  ${code} +${summary}$`, 'm'))
})

test.each(commands.map((command): CommandSpec => command))('help for $name names its arguments, flags and examples', (command) => {
  const text = helpText(command)
  expect(text).toContain(usageOf(command))
  const words = text.replace(/\s+/g, ' ')
  for (const { name, summary } of command.arguments) expect(words).toContain(`${name} ${summary}`)
  for (const flag of flagsOf(command)) {
    const value = flag.value === undefined ? '' : ` ${flag.value}`
    expect(words).toContain(`--${flag.name}${value}${flag.repeatable ? ' ...' : ''} ${flag.summary}`)
    for (const choice of flag.choices ?? []) expect(flag.summary).toContain(choice)
  }
  for (const { line, summary } of command.examples) expect(text).toContain(`  # ${summary}\n  ${line}\n`)
})

test('the examples are understood', () => {
  for (const { line } of commands.flatMap((command): CommandSpec['examples'] => command.examples)) {
    const [, ...words] = (line.split(/ [<>|] /).find((part) => part.startsWith('troupe')) ?? '').match(/"[^"]*"|\S+/g) ?? []
    expect(parseArguments(words.map((word) => word.replaceAll('"', '')))).toMatchObject({ ok: true })
  }
})

test('a setting with its own flag has one summary, capitalised in the help of the command', () => {
  const run: CommandSpec = commands[0]
  const flags = flagsOf(run).flatMap(({ sets, name, value, summary }) => (sets === undefined ? [] : [{ sets, name, value, summary }]))
  const settings = agentOptionKeys.flatMap((sets) => {
    const { flag, summary }: AgentOption = agentOptions[sets]
    return flag ? [{ sets, ...flag, summary: `${summary[0]?.toUpperCase()}${summary.slice(1)}` }] : []
  })
  expect(flags).toEqual(settings)
  expect(settings.length).toBeGreaterThan(0)
})

test('help for agent files names every setting, and its example is an agent', () => {
  const text = agentFileHelp()
  const words = text.replace(/\s+/g, ' ')
  for (const key of agentOptionKeys) expect(words).toContain(`${key} ${agentOptions[key].summary}`)
  const [example = ''] = /#![\s\S]*?most\./.exec(text) ?? []
  expect(parseAgentFile(example.replaceAll(/^ {2}/gm, ''), 'trip.ai')).toMatchObject({ limits: { maxToolTurns: 6, timeBudget: 600_000 } })
})

test('help is plain text within 120 columns', () => {
  for (const text of [helpText(), agentFileHelp(), ...commands.map((command) => helpText(command))]) {
    expect(text).toMatch(/^[\x20-\x7e\n]+\n$/)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
  }
})

test.each([40, 60, 79])('in %i columns no line is longer except commands to copy, and nothing is omitted', (most) => {
  for (const command of [undefined, ...commands]) {
    const lines = helpText(command, most).split('\n')
    for (const line of lines) if (!/^ {2}\S*(?:troupe|git|#)/.test(line)) expect(line.length, line).toBeLessThanOrEqual(most)
    const words = (text: string): string => text.replace(/\s+/g, ' ')
    expect(words(helpText(command, most))).toBe(words(helpText(command)))
  }
})

test('the overview fits a usual window: names beside what they do, two lines at most', () => {
  const [, section = ''] = /Commands\n([\s\S]*?)\n\n/.exec(helpText(undefined, 79)) ?? []
  expect(section.split('\n').filter((line) => line.startsWith('  a'))).toEqual([
    '  audit                        List approvals and administrative actions',
    '  agents list                  List agents',
    '  approvals ACTION [NAME ...]  List and revoke grants, answer open requests',
  ])
  expect(section.split('\n').length).toBeLessThan(2 * commands.length)
})
