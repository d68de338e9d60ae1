import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { withModel } from './openai-support.ts'

describe('routes of OpenAI that a server does not have', () => {
  it.each([
    ['POST', '/v1/embeddings'],
    ['POST', '/v1/completions?api-version=1'],
    ['GET', '/v1/files'],
    ['DELETE', '/v1/files'],
    ['DELETE', '/v1/files/file-1'],
    ['PATCH', '/v1/skills'],
    ['GET', '/v1/engines'],
    ['POST', '/v1/edits'],
    ['POST', '/v1/chatkit/sessions'],
    ['GET', '/v1/organization/usage'],
    ['GET', '/v1/chat'],
    ['POST', '/v1/chat'],
    ['POST', '/v1/audio/speech'],
    ['POST', '/v1/images/generations'],
    ['GET', '/v1/assistants'],
    ['POST', '/v1/moderations'],
    ['GET', '/v1/batches'],
    ['POST', '/v1/responses/compact'],
    ['POST', '/v1/responses/a/b'],
  ])("%s %s is 404 in OpenAI's form", async (method, path) => {
    const { fetch } = await withModel([])
    const response = await fetch(path, { method, ...(method === 'POST' && { body: '{}' }) })
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({
      error: { message: expect.stringContaining('There is no route /v1/'), type: 'invalid_request_error', param: null, code: 'not_found' },
    })
  })

  it.each([
    ['GET', '/v1/responses', 'POST'],
    ['POST', '/v1/models', 'GET'],
    ['GET', '/v1/chat/completions', 'POST'],
  ])("%s %s is 405 in OpenAI's form", async (method, path, allowed) => {
    const { fetch } = await withModel([])
    const response = await fetch(path, { method, ...(method === 'POST' && { body: '{}' }) })
    expect(response.status).toBe(405)
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining(`Use ${allowed}.`), code: 'method_not_allowed' },
    })
  })

  it('fail in the client with its own error', async () => {
    const { client } = await withModel([])
    const error = await client.embeddings.create({ model: 'clerk', input: 'a' }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.NotFoundError)
    expect(error).toMatchObject({ code: 'not_found', type: 'invalid_request_error' })
  })
})
