import { expect, it } from 'vitest'
import { conversationSessions } from '../../src/kernel/index.ts'
import { rehearsalModel } from '../../src/models/index.ts'
import { kernelScene } from '../kernel/kernel-scene.ts'

// Through the kernel: `rehearsal` is the orchestrator and the agent that talks to the person.

async function handedOver() {
  const { runtime, close } = await kernelScene({
    extensions: [{ id: 'coach', agent: { integrationMode: 'handoff' } }],
    models: { main: [], small: [] },
    runtime: { adapter: rehearsalModel() },
  })
  const sessions = conversationSessions(runtime.sessions)
  const id = await sessions.start('Ask the coach to help me', { agent: 'orchestrator' })
  expect(await sessions.outcome(id)).toMatchObject({
    status: 'suspended',
    report: { text: expect.stringContaining('Write /back to return to the assistant.') },
    speaker: { agent: 'coach' },
  })
  const say = async (text: string) => {
    await sessions.send(id, text)
    return sessions.outcome(id)
  }
  return { say, close }
}

it('stays in the handoff until the person leaves it with /back, and does not begin it again', async () => {
  const { say, close } = await handedOver()
  expect(await say('Are you there?')).toMatchObject({ status: 'suspended', report: { text: expect.stringContaining('not an AI model') } })
  const back = await say('/back')
  expect(back).toMatchObject({ status: 'completed', report: { text: expect.stringContaining('the person asked for you') } })
  expect(back.speaker).toBeUndefined()
  const next = await say('hello')
  expect(next).toMatchObject({ status: 'completed', report: { text: expect.stringContaining('not an AI model') } })
  await close()
})

it('leaves it when the person says so', async () => {
  const { say, close } = await handedOver()
  const back = await say('take me back to the assistant')
  expect(back).toMatchObject({ status: 'completed', report: { text: expect.stringContaining('The person ended the conversation.') } })
  expect(back.speaker).toBeUndefined()
  await close()
})
