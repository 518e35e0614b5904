// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The inputs of the tools.
type (
	nothing     struct{}
	application struct {
		Application string `json:"application" jsonschema:"the name of the application"`
	}
	optional struct {
		Application string `json:"application,omitempty" jsonschema:"the name of an application; all without it"`
	}
	logs struct { // of which logsInput is the schema
		Application string `json:"application"`
		Stage       string `json:"stage"`
		Lines       int    `json:"lines"`
	}
	difference struct {
		Application string `json:"application" jsonschema:"the name of the application"`
		Commit      string `json:"commit,omitempty" jsonschema:"what merging it would change; drift without it"`
	}
	previewed struct {
		Commit string `json:"commit,omitempty" jsonschema:"a commit or branch of the watched repository; default HEAD"`
	}
	path struct {
		Path string `json:"path" jsonschema:"a file or directory in the repository or the server's current directory"`
	}
	stage struct {
		Application string `json:"application" jsonschema:"the name of the application"`
		Stage       string `json:"stage,omitempty" jsonschema:"the id or type of the stage, where several wait"`
	}
)

// addReading adds the tools that change nothing.
func addReading(s *mcp.Server, r *runner) {
	add(s, r, reading("status", "The parts of the environment, its agents, and each problem with its next step"),
		func(nothing) []string { return command("status") })
	add(s, r, reading("applications", "Every application with its sync status, health, and the reasons"),
		func(nothing) []string { return command("apps") })
	add(s, r, reading("deployments", "The deployments with status and reason, the newest first"),
		func(in optional) []string {
			if in.Application == "" {
				return command("deployments")
			}
			return command("history", in.Application)
		})
	add(s, r, reading("resources", "The tree of live objects of an application, with health, reasons, drift"),
		func(in application) []string { return command("tree", in.Application) })
	add(s, r, reading("differences", "The fields that differ from Git, or what a commit would change"),
		func(in difference) []string {
			if in.Commit != "" {
				return append([]string{"diff", "--commit=" + in.Commit}, command("diff", in.Application)[1:]...)
			}
			return command("diff", in.Application)
		})
	add(s, r, reading("events", "What happened to an application, in order"),
		func(in application) []string { return command("events", in.Application) })
	add(s, r, reading("plugins", "The plugin processes: state, crashes with their reasons, the stages that they own"),
		func(nothing) []string { return command("plugins") })
	add(s, r, reading("plan_preview", "What merging a commit into the watched branch would deploy"),
		previewLine)
	mcp.AddTool(s, reading("validate", "Check piped and application configuration: every mistake with "+
		"file:line:column"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in path) (*mcp.CallToolResult, any, error) {
			return result(r.validate(ctx, in))
		})
	addLogs(s, r)
	mcp.AddTool(s, reading("why", "Why a deployment failed or waits, or an application is not healthy or in sync: "+
		"reasons, failed and waiting stages with the end of their logs, problems of the environment"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in optional) (*mcp.CallToolResult, explanation, error) {
			all, err := r.why(ctx, in.Application)
			return nil, all, err
		})
}

// logsInput is the input of logs. The library takes no bounds from a struct.
var logsInput = map[string]any{
	"type": "object", "required": []string{"application"}, "additionalProperties": false,
	"properties": map[string]any{
		"application": map[string]any{
			"type": "string", "description": "the name of an application, or the id of a deployment",
		},
		"stage": map[string]any{
			"type": "string", "description": "the id or type of a stage; all stages without it",
		},
		"lines": map[string]any{
			"type": "integer", "minimum": 1, "maximum": maxLines, "default": defaultLines,
			"description": "how many of the last lines",
		},
	},
}

// addLogs adds the tool that says how many lines its answer leaves out.
func addLogs(s *mcp.Server, r *runner) {
	tool := reading("logs", "The last lines of the log of a deployment's stages")
	tool.InputSchema = logsInput
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in logs) (*mcp.CallToolResult, any, error) {
		printed, note, err := r.logs(ctx, in)
		answer, _, err := result(printed, err)
		if answer != nil && note != "" {
			answer.Content = append(answer.Content, &mcp.TextContent{Text: note})
		}
		return answer, nil, err
	})
}

// addChanges adds the tools that ask the environment to do something.
func addChanges(s *mcp.Server, r *runner) {
	add(s, r, changing("sync", "Deploy the newest commit of an application"),
		func(in application) []string { return command("sync", in.Application) })
	add(s, r, changing("approve", "Approve the stage of an application that waits"),
		func(in stage) []string {
			if in.Stage == "" {
				return command("approve", in.Application)
			}
			return command("approve", in.Application, in.Stage)
		})
	add(s, r, changing("cancel", "Cancel the running deployment of an application"),
		func(in application) []string { return command("cancel", in.Application) })
	add(s, r, changing("rollback", "Deploy the commit that was deployed before"),
		func(in application) []string { return command("rollback", in.Application) })
}

func previewLine(in previewed) []string {
	if in.Commit != "" {
		return append([]string{"plan-preview", "--commit=" + in.Commit}, command("plan-preview")[1:]...)
	}
	return command("plan-preview")
}

// command is a command line of pipedeck; the arguments are none of its flags, whatever they begin with.
func command(name string, arguments ...string) []string {
	args := []string{name, "-o", "json"}
	if len(arguments) > 0 {
		args = append(append(args, "--"), arguments...)
	}
	return args
}

func reading(name, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}
}

func changing(name, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description}
}

// add adds a tool that returns what a command prints.
func add[In any](s *mcp.Server, r *runner, tool *mcp.Tool, line func(In) []string) {
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		return result(r.run(ctx, line(in)...))
	})
}

// result is what an assistant gets of what was printed, and of the error.
func result(printed []byte, err error) (*mcp.CallToolResult, any, error) {
	if len(printed) == 0 && err != nil {
		return nil, nil, err
	}
	text := string(printed)
	if len(text) > maxResult {
		text = fmt.Sprintf("%s\n… %d more bytes are left out; ask for one application, or for fewer lines",
			text[:maxResult], len(text)-maxResult)
	}
	content := []mcp.Content{&mcp.TextContent{Text: text}}
	if err != nil {
		content = append(content, &mcp.TextContent{Text: err.Error()})
	}
	return &mcp.CallToolResult{Content: content}, nil, nil
}
