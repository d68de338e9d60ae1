import type { Tool, ToolProvider } from 'troupe/extension'

export class TemplateClass implements ToolProvider {
  getTools(): readonly Tool[] {
    return [
      {
        // Models see it as `template_id__count_words`.
        name: 'count_words',
        description: 'Count the words of a text.',
        inputSchema: {
          type: 'object',
          properties: { text: { type: 'string', description: 'Text to count.' } },
          required: ['text'],
          additionalProperties: false,
        },
        // It changes nothing, so a call may run again after a crash, and calls may overlap.
        effect: 'read',
        concurrency: 'shared',
        execute: ({ text }) => {
          const words = String(text).match(/\S+/g) ?? []
          if (words.length > 0) return `${words.length} words`
          return { ok: false, error: { class: 'failed', message: 'The text has no words.', remedy: 'Ask the person for the text.' } }
        },
      },
    ]
  }
}
