import { expect, test } from 'vitest'
import { workbench } from './troupe.ts'

const { troupe } = await workbench()

test('the demo shows two parallel children, an approval, a failing tool and a forced last answer, and names its models', async () => {
  const ended = await troupe(['demo'])
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Take the 17:05 from Gothenburg .*\n$/s) })
  expect(ended.stderr).toContain('The models are scripts and the tools are simulated: no LLM')
  expect(ended.stderr).toContain('Without a terminal, the demo approves the booking itself.')
  expect(ended.stderr).toMatch(/\? approval required: Book 2 nights in Oslo\n +approved by the demonstration\n/)
  expect(ended.stderr).not.toContain('\u001b')
  const tree = ended.stderr.slice(ended.stderr.indexOf('\ntrip '))
  expect(tree).toMatch(/^\ntrip {2}partial: step limit · 5 steps · 5 calls/)
  expect(tree).toMatch(/✓ weather .*∥[\s\S]*✓ look_up_weather/)
  expect(tree).toMatch(/✓ trains .*∥[\s\S]*✓ look_up_trains/)
  expect(tree).toMatch(/✗ book_room .*\n.*network: The booking system of the hotel does not respond\.\n.*→ Try again later/)
  expect(tree).toMatch(/└─ step 5 · forced last answer/)
})
