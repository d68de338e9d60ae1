// Servers that speak OpenAI's chat format, and what each of them wants said in its own way.

type Body = { readonly [field: string]: unknown }

export interface ServerTraits {
  readonly needsKey: boolean
  /** Takes a JSON Schema for the answer; others may refuse a request that has one. */
  readonly schemaMode: boolean
  body(body: Body): Body
}

const asItIs = (body: Body): Body => body

const servers: { readonly [provider: string]: ServerTraits } = {
  openrouter: { needsKey: true, schemaMode: true, body: openRouterBody },
  ollama: { needsKey: false, schemaMode: true, body: ollamaBody },
  lmstudio: { needsKey: false, schemaMode: true, body: asItIs },
  llamacpp: { needsKey: false, schemaMode: true, body: asItIs },
  vllm: { needsKey: false, schemaMode: true, body: asItIs },
}

export function traitsOf(provider: string): ServerTraits {
  return (Object.hasOwn(servers, provider) && servers[provider]) || { needsKey: false, schemaMode: false, body: asItIs }
}

/** Has the request's cost in the usage, and its own object for reasoning. */
function openRouterBody({ reasoning_effort: effort, ...body }: Body): Body {
  return { ...body, usage: { include: true }, ...(effort !== undefined && { reasoning: { effort } }) }
}

/** Knows fewer efforts. */
function ollamaBody({ reasoning_effort: effort, ...body }: Body): Body {
  if (effort === undefined) return body
  return { ...body, reasoning_effort: effort === 'minimal' ? 'low' : effort === 'xhigh' ? 'high' : effort }
}
