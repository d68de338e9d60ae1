import { expect, test } from 'vitest'
import { exitCodes } from './exit-codes.ts'
import { helpText } from './help-text.ts'
import { type CommandSpec, commands, commonFlags, usageOf } from './options.ts'

test('the overview names every command, common flag and exit code', () => {
  const text = helpText()
  for (const { name, summary } of commands) expect(text).toMatch(new RegExp(`^  ${name}\\b.*${summary}$`, 'm'))
  for (const { name, summary } of commonFlags) expect(text).toMatch(new RegExp(`--${name} .*${summary}$`, 'm'))
  for (const { code, summary } of Object.values(exitCodes)) expect(text).toMatch(new RegExp(`^  ${code} +${summary}$`, 'm'))
})

test.each(commands.map((command): CommandSpec => command))('help for $name names its arguments, flags and examples', (command) => {
  const text = helpText(command)
  expect(text).toContain(usageOf(command))
  for (const { name, summary } of [...command.arguments, ...command.flags])
    expect(text).toMatch(new RegExp(`${name}.*${summary.replace(/[$()/]/g, '\\$&')}$`, 'm'))
  for (const example of command.examples) expect(text).toContain(`  ${example}\n`)
})

test('help is plain text within 120 columns', () => {
  for (const text of [helpText(), ...commands.map((command) => helpText(command))]) {
    expect(text).toMatch(/^[\x20-\x7e\n]+\n$/)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
  }
})
