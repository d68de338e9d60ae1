import { createOpenAI } from '@ai-sdk/openai'
import { generateText, streamText } from 'ai'
import { describe, expect, it } from 'vitest'
import { gate, type ScriptedStepSource } from '../../src/testing/index.ts'
import { pngBase64 } from '../fixtures/pictures.ts'
import { clerk, gatedModel, half, serveOpenAi, team, withCalls, withModel } from './openai-support.ts'
import { localToken } from './support.ts'

describe('@ai-sdk/openai-compatible', () => {
  it('gets texts, reasoning and usage, streamed or not', async () => {
    const { ai } = await withModel([...team, ...team], { tools: ['weather'] })
    const model = ai('clerk')
    const whole = await generateText({ model, prompt: 'Rain?' })
    expect(whole).toMatchObject({
      text: 'I look it up.\n\nIt rains in Oslo.',
      reasoningText: 'They ask for rain.\n\nEasy.',
      finishReason: 'stop',
      usage: { inputTokens: 200, outputTokens: 40 },
    })
    const streamed = streamText({ model, prompt: 'Rain?' })
    expect(await streamed.text).toBe(whole.text)
    expect(await streamed.usage).toMatchObject({ inputTokens: 200, outputTokens: 40 })
  })

  it('sends images, system messages and calls of earlier turns', async () => {
    const { ai, model } = await withModel([{ text: 'A picture.' }])
    await generateText({
      model: ai('clerk'),
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Rain?' },
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { city: 'Oslo' } }] },
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output: { type: 'text', value: 'Rain.' } }],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'file', data: pngBase64, mediaType: 'image/png' },
          ],
        },
      ],
    })
    expect(model.requests[0]).toMatchObject({
      system: 'You are a clerk.\n\nBe brief.',
      messages: [
        { role: 'user' },
        { role: 'assistant' },
        { role: 'tool' },
        { role: 'user', parts: [{}, { type: 'image', data: pngBase64 }] },
      ],
    })
  })

  it('does not repeat a failed turn or one that waits', async () => {
    const steps: ScriptedStepSource[] = [{ fault: { class: 'config', message: 'A wrong setting.' } }, { calls: [{ tool: 'pay' }] }]
    const { ai, model } = await withModel(steps, { tools: ['pay'], limits: { maxRetries: 0 } })
    await expect(generateText({ model: ai('clerk'), prompt: 'One' })).rejects.toMatchObject({ statusCode: 422 })
    await expect(generateText({ model: ai('clerk'), prompt: 'Two' })).rejects.toMatchObject({ statusCode: 403 })
    expect(model.requests).toHaveLength(2)
  })

  it('reports an error of a stream', async () => {
    const hold = gate()
    const model = gatedModel(half, hold, { class: 'network', message: 'Lost.' })
    const { ai } = await serveOpenAi({ model, agents: [clerk] })
    const parts: string[] = []
    for await (const part of streamText({ model: ai('clerk'), prompt: 'One', onError() {} }).fullStream) {
      parts.push(part.type)
      if (part.type === 'text-delta') hold.open()
    }
    expect(parts).toContain('error')
  })
})

describe('the responses of @ai-sdk/openai', () => {
  it('gets messages and calls, streamed or not', async () => {
    const { url } = await withModel([...team, ...team], { tools: ['weather'] })
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: localToken }).responses('clerk')
    const whole = await generateText({ model, prompt: 'Rain?' })
    expect(whole.text).toBe('I look it up.It rains in Oslo.')
    expect(whole.usage).toMatchObject({ inputTokens: 200, outputTokens: 40 })
    const stream = streamText({ model, prompt: 'Rain?' })
    expect(await stream.text).toBe(whole.text)
  })

  it('continues a conversation by references to the items of earlier answers', async () => {
    const { url, model: asked } = await withModel([...team, { text: 'Take a coat.' }], { tools: ['weather'] })
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: localToken, ...withCalls })('clerk')
    const first = await generateText({ model, prompt: 'Rain?' })
    const messages = [
      { role: 'user', content: 'Rain?' } as const,
      ...first.response.messages,
      { role: 'user', content: 'And now?' } as const,
    ]
    expect((await generateText({ model, messages })).text).toBe('Take a coat.')
    expect(asked.requests.at(-1)?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [{ type: 'text', text: 'I look it up.' }] },
      { role: 'assistant', parts: [{ type: 'call', name: 'weather' }] },
      { role: 'tool', results: [{ name: 'weather', ok: true }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'It rains in Oslo.' }] },
      { role: 'user', parts: [{ text: 'And now?' }] },
    ])
  })

  it('does not repeat a streamed turn that waits for a person', async () => {
    const { url, runtime } = await withModel([{ calls: [{ tool: 'pay' }] }], { tools: ['pay'] })
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: localToken })('clerk')
    const stream = streamText({ model, prompt: 'Pay!', onError() {} })
    await expect(Promise.resolve(stream.text)).rejects.toThrow()
    expect(await runtime.sessions.list()).toHaveLength(1)
  })
})
