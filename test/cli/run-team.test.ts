import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { documentIn, linesIn } from './published.ts'
import { workbench } from './troupe.ts'

const { agent, troupe, folder } = await workbench()

const call = (tool: string): string => `{ tool: agent__${tool}, input: { prompt: Look., reason: It has to be known } }`
const child = (name: string): string => `description: A test\nusage: what to do\noutput: { format: text }\nmodels: script/${name}.yaml`
await agent('scout', 'steps: [{ text: Found it., usage: { input: 10, output: 2 } }]', child('scout'))
await agent('writer', 'steps: [{ text: Written., usage: { input: 20, output: 3 } }]', child('writer'))
const boss = await agent(
  'boss',
  `steps: [{ calls: [${call('scout')}, ${call('writer')}] }, { text: Done. }]`,
  'description: Leads\nmodels: script/boss.yaml\nagents: [./scout.ai, ./writer.ai]',
)

describe('an agent file that names others', () => {
  test('runs them as tools: lines, tree and summary show who did what', async () => {
    const { code, stdout, stderr } = await troupe(['run', boss, 'Go'])
    expect([code, stdout]).toEqual([0, 'Done.\n'])
    expect(stderr).toMatch(/^child:scout │ step 1 script\/scout\.yaml$/m)
    expect(stderr).toMatch(/^│ {2}├─ ✓ scout {3}Look\. · 1 step · “It has .* 10 → 2 /m)
    expect(stderr).toMatch(/^│ {2}└─ ✓ writer {2}Look\. · 1 step · “It has .* 20 → 3 /m)
    expect(stderr).toMatch(/^[├└]─ agent scout +1 .* 10 → 2 .* B → 9 B$/m)
  })

  test('is quiet where it is to be, and has the same summary as a document', async () => {
    const ended = await troupe(['run', boss, 'Go', '--json', '-q'])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(documentIn(ended.stdout)).toMatchObject({
      summary: {
        agent: 'boss',
        models: [{ calls: 2 }],
        agents: expect.arrayContaining([expect.objectContaining({ agent: 'writer', calls: 1 })]),
      },
    })
  })

  test('shows who waits for a queue, in lines and as events, and when that is over', async () => {
    await writeFile(join(folder, 'one.json'), '{ "queues": { "script": { "concurrent": 1 } } }')
    for (const name of ['north', 'south']) await agent(name, 'steps: [{ text: Found it., delay: 50ms }]', child(name))
    const pair = await agent(
      'pair',
      `steps: [{ calls: [${call('north')}, ${call('south')}] }, { text: Done. }]`,
      'description: Leads\nmodels: script/pair.yaml\nagents: [./north.ai, ./south.ai]',
    )
    const { code, stdout, stderr } = await troupe(['run', pair, 'Go', '--config', 'one.json', '--stream-json'])
    expect(code).toBe(0)
    const events = linesIn(stdout)
    const [joined, left, ...more] = events.filter(({ type }) => String(type).startsWith('interaction.queue.'))
    expect(joined).toMatchObject({
      type: 'interaction.queue.joined',
      queue: 'script',
      agentPath: expect.stringMatching(/^root\/(?:north|south)#1$/),
    })
    expect([left, more]).toEqual([{ ...joined, type: 'interaction.queue.left' }, []])
    expect(stderr.match(/^child:(?:north|south) │ {3}◷ waiting for queue script$/gm)).toHaveLength(1)
  })

  test('is checked with all of them before anything begins', async () => {
    await agent('lost', 'steps: []', 'description: x\nmodels: script/lost.yaml\nagents: [./scuot.ai, ./broken.ai]')
    await writeFile(join(folder, 'broken.ai'), '---\ndescription: x\nmodel: 7\n---\nGo.\n')
    const ended = await troupe(['run', 'lost.ai', 'Go'])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(/scuot\.ai/)
    expect(ended.stderr).toMatch(/broken\.ai:3:1/)
  })
})
