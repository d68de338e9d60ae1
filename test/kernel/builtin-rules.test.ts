import { expect, it } from 'vitest'
import type { ApprovalRule, Tool } from '../../src/contracts/index.ts'
import { withBuiltinRules } from '../../src/kernel/loader/builtin-rules.ts'
import { ruling } from '../../src/steps/approval/rules.ts'
import { extensionContext } from './extension-context.ts'

async function verdict(tool: Tool, input: { command: string }, rule: ApprovalRule) {
  const { keys = [] } = (await tool.approval?.(input)) ?? {}
  return ruling([{ rules: [rule] }], { names: [`shell_exec__${tool.name}`], keys })?.verdict
}

it('applies rules that deny a built-in tool to its copy in an extension, and none that allow it', async () => {
  const [shell] = extensionContext().context.builtinTools(['shell'])
  const offered = withBuiltinRules(shell as Tool)
  expect(await verdict(shell as Tool, { command: 'git push' }, { deny: 'shell(git push)' })).toBeUndefined()
  expect(await verdict(offered, { command: 'git push' }, { deny: 'shell(git push)' })).toBe('deny')
  expect(await verdict(offered, { command: 'git push' }, { ask: 'shell(git push)' })).toBe('ask')
  expect(await verdict(offered, { command: 'git push' }, { allow: 'shell(git push)' })).toBeUndefined()
  expect(await verdict(offered, { command: 'git push' }, { allow: 'shell_exec__shell(git push)' })).toBe('allow')
})
