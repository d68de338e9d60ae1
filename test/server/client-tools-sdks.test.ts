import { createOpenAI } from '@ai-sdk/openai'
import { Agent, tool as agentTool, handoff, run, setTracingDisabled } from '@openai/agents-core'
import { OpenAIChatCompletionsModel, OpenAIResponsesModel } from '@openai/agents-openai'
import { generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ScriptedStepSource } from '../../src/testing/index.ts'
import { resultsIn } from '../acceptance/support.ts'
import { pngBase64 } from '../fixtures/pictures.ts'
import { clerk, type OpenAiServed, said, withModel } from './openai-support.ts'
import { localToken } from './support.ts'

// Tools of a client through the frameworks that run them: they are offered, run there, and their results continue the turn.

const calls = ['Oslo', 'Rome'].map((city) => ({ tool: 'weather', input: { city } }))
const steps: readonly ScriptedStepSource[] = [{ reasoning: 'Hm.', text: 'I look.', calls }, { calls: calls.slice(1) }, { text: 'Rain.' }]

const tools = {
  weather: tool({
    description: 'The weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `Rain in ${city}.`,
  }),
}
const place = z.object({ city: z.string() })

const models = {
  'chat of openai-compatible': ({ ai }: OpenAiServed) => ai('clerk'),
  'chat of openai': ({ url }: OpenAiServed) => createOpenAI({ baseURL: `${url}/v1`, apiKey: localToken }).chat('clerk'),
  'responses of openai': ({ url }: OpenAiServed) => createOpenAI({ baseURL: `${url}/v1`, apiKey: localToken }).responses('clerk'),
} as const

describe.each(Object.entries(models))('the AI SDK with %s', (name, modelOf) => {
  it.each(['whole', 'streamed'])('runs tools in one session, %s', async (how) => {
    const served = await withModel(steps)
    const asked = { model: modelOf(served), prompt: 'Rain?', tools, stopWhen: stepCountIs(5) }
    const { text, steps: taken } = how === 'whole' ? await generateText(asked) : await settled(streamText(asked))
    expect(text).toBe('Rain.')
    expect(taken.map(({ toolCalls }) => toolCalls.length)).toEqual([2, 1, 0])
    expect(await served.runtime.sessions.list()).toHaveLength(1)
    expect(resultsIn(served.model.requests[1]).map(({ content }) => content)).toEqual(['Rain in Oslo.', 'Rain in Rome.'])
  })

  it('forces a tool, and gets objects beside tools', async () => {
    const served = await withModel([
      { calls: [{ tool: 'weather', input: { city: 'Oslo' } }] },
      { calls: calls.slice(0, 1) },
      { text: '{"city":"Oslo"}' },
    ])
    const model = modelOf(served)
    const forced = await generateText({ model, prompt: 'Where?', tools, toolChoice: { type: 'tool', toolName: 'weather' } })
    expect(forced.toolCalls).toMatchObject([{ input: { city: 'Oslo' } }])
    expect(served.model.requests[0]).toMatchObject({ toolChoice: { tool: 'weather' } })
    const both = await generateText({ model, prompt: 'Where?', tools, output: Output.object({ schema: place }), stopWhen: stepCountIs(3) })
    expect(both.output).toEqual({ city: 'Oslo' })
  })

  it('sends an image of a result', async () => {
    const served = await withModel([{ calls: [{ tool: 'look', input: {} }] }, { text: 'A dot.' }])
    const look = tool({
      inputSchema: z.object({}),
      execute: () => 'shown',
      toModelOutput: () => ({
        type: 'content',
        value: [{ type: 'file', data: { type: 'data', data: pngBase64 }, mediaType: 'image/png' }],
      }),
    })
    const { text } = await generateText({ model: modelOf(served), prompt: 'Look!', tools: { look }, stopWhen: stepCountIs(3) })
    expect(text).toBe('A dot.')
    // Chat has no images in results.
    if (name.startsWith('responses'))
      expect(resultsIn(served.model.requests[1])).toMatchObject([{ parts: [{ type: 'image', data: pngBase64 }] }])
  })
})

async function settled(stream: ReturnType<typeof streamText<typeof tools>>) {
  return { text: await stream.text, steps: await stream.steps }
}

describe.each([
  ['chat', OpenAIChatCompletionsModel],
  ['responses', OpenAIResponsesModel],
] as const)('the OpenAI Agents SDK with %s', (_, Model) => {
  it.each([false, true])('hands off to another agent, which runs its tools (streamed: %s)', async (stream) => {
    setTracingDisabled(true)
    const script: readonly ScriptedStepSource[] = [
      { text: 'A moment.', calls: [{ tool: 'transfer_to_Meteorologist', input: {} }] },
      { calls: calls.slice(0, 1) },
      { text: 'Rain.' },
    ]
    const { client, model, runtime } = await withModel(script)
    const weather = agentTool({
      name: 'weather',
      description: 'The weather of a city.',
      parameters: place,
      execute: async ({ city }) => `Rain in ${city}.`,
    })
    const meteorologist = new Agent({
      name: 'Meteorologist',
      instructions: 'Forecast.',
      model: new Model(client, 'clerk'),
      tools: [weather],
    })
    const desk = new Agent({
      name: 'Desk',
      instructions: 'Hand off.',
      model: new Model(client, 'clerk'),
      handoffs: [handoff(meteorologist)],
    })
    const result = stream ? await run(desk, 'Rain?', { stream: true }) : await run(desk, 'Rain?')
    if ('completed' in result) await result.completed
    expect(result.finalOutput).toBe('Rain.')
    expect(result.lastAgent?.name).toBe('Meteorologist')
    expect(model.requests.map(({ system }) => system.split('\n\n')[1])).toEqual(['Hand off.', 'Forecast.', 'Forecast.'])
    expect(model.requests.map((request) => request.tools.map((each) => each.name))).toEqual([
      ['transfer_to_Meteorologist'],
      ['weather'],
      ['weather'],
    ])
    expect(await runtime.sessions.list()).toHaveLength(1)
  })

  it('hands off to another agent of the server, in a session of its own', async () => {
    const agents = ['clerk', 'scout'].map((name) => ({ ...clerk, name }))
    const script = [{ calls: [{ tool: 'transfer_to_Scout', input: {} }] }, { text: 'Found.' }]
    const { client, runtime, model } = await withModel(script, {}, { agents })
    const scout = new Agent({ name: 'Scout', instructions: 'Look.', model: new Model(client, 'scout') })
    const desk = new Agent({ name: 'Desk', model: new Model(client, 'clerk'), handoffs: [handoff(scout)] })
    expect((await run(desk, 'Where?')).finalOutput).toBe('Found.')
    expect((await runtime.sessions.list()).map(({ agent }) => agent)).toEqual(['scout', 'clerk'])
    expect(said(model)).toEqual(['user: Where?', 'assistant: call', expect.stringContaining('tool: '), expect.any(String)])
  })
})
