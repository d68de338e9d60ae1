import { expect, test } from 'vitest'
import { places } from '../../../test/fixtures/memory-files.ts'
import { configFiles } from './config-places.ts'

const shown = (given: Parameters<typeof configFiles>[0]) => configFiles(given).map(({ layer, path }) => `${layer} ${path}`)

test('the files of every layer, strongest first', () => {
  expect(shown({ ...places, given: '/lab/lab.json' })).toEqual([
    'given /lab/lab.json',
    'given /lab/lab.env',
    'project /project/.ai-agent.json',
    'project /project/.mcp.json',
    'project /project/.ai-agent.env',
    'agent /agents/.ai-agent.json',
    'agent /agents/.mcp.json',
    'agent /agents/.ai-agent.env',
    'user /home/.ai-agent/.ai-agent.json',
    'user /home/.ai-agent/.mcp.json',
    'user /home/.ai-agent/.ai-agent.env',
    'system /etc/ai-agent/.ai-agent.json',
    'system /etc/ai-agent/.mcp.json',
    'system /etc/ai-agent/.ai-agent.env',
  ])
})

test('a file is read once, for the layer that needs no trust', () => {
  expect(shown({ workingDirectory: '/p', agentDirectory: '/p', userFolder: '/u', systemFolder: '/s', given: '/p/.ai-agent.json' })).toEqual(
    [
      'given /p/.ai-agent.json',
      'given /p/.ai-agent.env',
      'project /p/.mcp.json',
      'user /u/.ai-agent.json',
      'user /u/.mcp.json',
      'user /u/.ai-agent.env',
      'system /s/.ai-agent.json',
      'system /s/.mcp.json',
      'system /s/.ai-agent.env',
    ],
  )
  expect(shown({ workingDirectory: '/u', userFolder: '/u', systemFolder: '/s' }).filter((file) => file.includes('/u/'))).toEqual([
    'user /u/.ai-agent.json',
    'user /u/.mcp.json',
    'user /u/.ai-agent.env',
  ])
})
