/** What `troupe init` creates, by path. It runs at once, without a key or a network. */
export const projectFiles: { readonly [path: string]: string } = {
  '.ai-agent.json': `{
  "agents": ["./agents"],
  "defaults": { "models": "rehearsal" }
}
`,
  'trip.ai': `#!/usr/bin/env troupe
---
description: Plans a weekend trip with a scout and a writer
usage: a city and what you like
agents: [scout, writer]
limits: { maxToolTurns: 6, timeBudget: 2m }
---
You plan weekend trips. Let the scout find out what there is to see, then let the writer make a plan of it.
Answer with the plan, in a few sentences.
`,
  'agents/scout.ai': `---
description: Finds out what there is to see in a city
usage: the name of a city
output:
  format: json
  schema:
    type: object
    properties:
      city: { type: string }
      sights: { type: array, items: { type: string } }
    required: [city, sights]
---
You name up to three sights of the city that you are asked about.
`,
  'agents/writer.ai': `---
description: Writes a plan for a weekend out of sights and display
usage: sights, and what the travellers like
output: { format: markdown }
---
You write a plan for Saturday and Sunday, two sentences each.
`,
  'notes.ai': `#!/usr/bin/env troupe
---
description: Looks after the notes in this folder
usage: what is to be found, read or written down
tools: [list_files, search_files, read_file, write_file]
limits: { maxToolTurns: 8 }
---
You look after the notes in the folder notes. Search before you answer, and name the file that you found something in.
What you write down goes into a file of its own there.
`,
  'notes/bergen.md': `# Bergen

Seven mountains stand around the city. The funicular up to Fløyen takes six minutes.
`,
  '.gitignore': `# Keys stay here.
.ai-agent.env
`,
  'README.md': `# Agents

    troupe run trip.ai "Ask the scout what there is to see in Bergen, then ask the writer for a weekend plan"

    troupe run notes.ai "Search the files for funicular"
    troupe run notes.ai "Write the file notes/oslo.md with the content: Oslo has a fjord"

You are asked before a file is written; \`--allow write_file\` says yes beforehand, \`troupe approvals list\` shows what was
approved for good.

The model is \`rehearsal\`: it is no LLM, and needs neither a key nor a network. For a real one, put a key into
\`.ai-agent.env\` (\`ANTHROPIC_API_KEY=…\`), run \`troupe trust .ai-agent.env\`, and set \`defaults.models\` in
\`.ai-agent.json\` to \`auto\`, or to the name of a model.

- \`troupe validate\` checks every file.
- \`troupe agents list\` shows who is there.
- \`troupe doctor\` finds problems.
- \`troupe help agent-file\` explains every setting.
`,
}
