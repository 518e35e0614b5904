// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// withNextStep ends every error of a tool with the next step. The errors of commands have one; those of the library
// about arguments have none.
func withNextStep(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		answer, err := next(ctx, method, r)
		result, is := answer.(*mcp.CallToolResult)
		if !is || result == nil || !result.IsError || len(result.Content) == 0 {
			return answer, err
		}
		said, is := result.Content[len(result.Content)-1].(*mcp.TextContent)
		if !is || strings.Contains(said.Text, "next step:") {
			return answer, err
		}
		step := "the tool status says how the environment is"
		if strings.HasPrefix(said.Text, "validating ") {
			step = "call the tool with the arguments of its input schema, which tools/list has"
		}
		result.Content[len(result.Content)-1] = &mcp.TextContent{Text: said.Text + "\nnext step: " + step}
		return answer, err
	}
}
