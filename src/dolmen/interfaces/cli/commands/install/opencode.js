// Written by `dolmen install opencode`; `dolmen uninstall opencode` removes it.
// Gives each session its context and tells Dolmen's hook what is asked and answered. Nothing here may fail a session.
import { spawn } from "node:child_process"

const PROGRAM = __PROGRAM__
const WORDS = __WORDS__

const tell = (payload, patience) =>
  new Promise((done) => {
    try {
      const child = spawn(PROGRAM, WORDS, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      const timer = setTimeout(() => (child.kill(), done({})), patience)
      let said = ""
      child.stdout.on("data", (piece) => (said += piece))
      child.on("error", () => done({}))
      child.on("close", () => {
        clearTimeout(timer)
        try {
          done(JSON.parse(said || "{}"))
        } catch {
          done({})
        }
      })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done({})
    }
  })

const textOf = (parts) =>
  (parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

export const Dolmen = async ({ client, directory }) => {
  const contexts = new Map() // session: promise of its context, which is no part of the stored conversation
  const below = new Set() // sessions of subagents
  const facts = (session) => ({ session_id: session, cwd: directory })

  const begin = (session) => {
    const asked = tell({ ...facts(session), hook_event_name: "SessionStart", source: "clear" }, 10000)
    contexts.set(session, asked.then((answer) => answer.context ?? ""))
    return contexts.get(session)
  }

  const lastAnswer = async (session) => {
    try {
      const found = await client.session.messages({ path: { id: session } })
      const answers = (found.data ?? []).filter((message) => message.info?.role === "assistant")
      return textOf(answers.at(-1)?.parts)
    } catch {
      return ""
    }
  }

  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      if (below.has(sessionID)) return
      if (!contexts.has(sessionID)) await begin(sessionID)
      await tell({ ...facts(sessionID), hook_event_name: "UserPromptSubmit", prompt: textOf(parts) }, 5000)
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const context = await contexts.get(sessionID)
      if (context && !/title generator/i.test(system.join("\n"))) system.push(context)
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.created" && event.properties.info?.parentID) below.add(session)
      if (!session || below.has(session)) return
      if (event.type === "session.idle") {
        const text = await lastAnswer(session)
        await tell({ ...facts(session), hook_event_name: "Stop", last_assistant_message: text }, 5000)
      }
      if (event.type === "session.compacted") begin(session)
      if (event.type === "session.deleted") {
        await tell({ ...facts(session), hook_event_name: "SessionEnd" }, 5000)
      }
    },
  }
}
