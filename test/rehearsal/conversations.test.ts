import { describe, expect, it } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { conversation, shown } from './stage.ts'
import { agents, files, maths, office, shop, travel } from './tool-sets.ts'

// Whole conversations, as a person sees them. Read the transcripts in conversations/ before you accept a change of them.

async function transcript(tools: readonly Tool[], requests: readonly string[]): Promise<string> {
  const { say } = conversation(tools)
  let text = ''
  for (const request of requests) {
    const scene = await say(request)
    text += `> ${request}\n`
    for (const step of scene.steps) text += `  * ${shown({ steps: [step] })}\n`
    text += `${scene.answer.replaceAll(/^(?=.)/gm, '  ')}\n\n`
  }
  return text
}

const conversations: readonly [name: string, tools: readonly Tool[], requests: readonly string[]][] = [
  ['getting-to-know', travel, ['Hello!', 'What can you do?', 'tell me a joke', 'Wie spät ist es jetzt bitte?', 'Thanks!']],
  [
    'travel',
    travel,
    [
      'weather in Oslo and trains from Gothenburg to Oslo',
      'what about Bergen?',
      'book a room there for two nights',
      'try again',
      'compare offers',
      'which is nicer?',
      'thanks',
    ],
  ],
  ['travel-asks', travel, ['trains please', 'from Oslo', 'Bergen', 'and on Saturday?', 'weather and trains', 'in Voss', 'never mind']],
  [
    'change-of-mind',
    travel,
    ['trains to Bergen', 'actually, what is the weather in Voss?', 'book a room', 'two nights in Oslo, with breakfast'],
  ],
  [
    'files',
    files,
    [
      'make a new file notes.md',
      '"Remember the milk"',
      'list the files',
      'read README.md',
      'and package.json',
      'search for TODO',
      'write it to out.txt',
    ],
  ],
  ['office', office, ['list my tasks', 'send an email to Bob', 'bob@example.com saying "hi Bob"', 'what is on my calendar tomorrow?']],
  ['shop', shop, ['order two shirts', 'purple', 'medium', 'Find blue shirts under 50 euros']],
  ['maths', maths, ['convert 5 miles', 'to km', 'add 5', '7', 'multiply 3 and 4']],
  ['agents', agents, ['Research solar panels and summarise the findings', 'Let the critic review it', 'and the researcher?']],
]

describe('a conversation', () => {
  it.each(conversations)('about %s', async (name, tools, requests) => {
    await expect(await transcript(tools, requests)).toMatchFileSnapshot(`conversations/${name}.txt`)
  })
})
