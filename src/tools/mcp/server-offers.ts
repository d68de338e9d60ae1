/** A prompt that a server offers. */
export interface McpPrompt {
  readonly name: string
  readonly description?: string
  readonly arguments: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[]
}

export interface McpPromptMessage {
  readonly role: 'user' | 'assistant'
  /** Images and the like are named, not included. */
  readonly text: string
}

/** `template`: the URI contains `{placeholders}`. */
export interface McpResource {
  readonly kind: 'resource' | 'template'
  readonly uri: string
  readonly name: string
  readonly description?: string
  readonly mediaType?: string
}
