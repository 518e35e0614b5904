// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plainerror

import (
	"log/slog"
	"regexp"
	"strconv"
	"strings"
)

var (
	// prefix precedes the message of a status.
	prefix = regexp.MustCompile(`rpc error: code = (\w+) desc = ?`)
	// connection is an attempt to connect, which is quoted as Go does. A second attempt may be named within the first.
	connection = regexp.MustCompile(
		`(?:last )?(?:connection )?error: (?:connection error: )?desc = ("(?:[^"\\]|\\.)*")`)
	// transport is what gRPC says of an attempt besides the error of the network.
	transport = regexp.MustCompile(`^transport: (?:Error while dialing:? )?`)
)

// Text is an error's text without the words of gRPC and of Go's libraries, whatever wraps them; "" for nil.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return Clean(err.Error())
}

// Clean removes the words of gRPC and of Go's libraries from a text. A status without a message leaves the name of its
// code.
func Clean(text string) string { return withoutGo(withoutGRPC(text)) }

func withoutGRPC(text string) string {
	if !strings.Contains(text, "desc =") {
		return text
	}
	text = connection.ReplaceAllStringFunc(text, func(all string) string {
		said, err := strconv.Unquote(connection.FindStringSubmatch(all)[1])
		if err != nil {
			return all
		}
		return transport.ReplaceAllString(said, "")
	})
	if at := prefix.FindStringSubmatchIndex(text); at != nil && at[1] == len(text) {
		return text[:at[0]] + text[at[2]:at[3]]
	}
	return prefix.ReplaceAllString(text, "")
}

// Attr is for slog.HandlerOptions.ReplaceAttr: it cleans errors and texts.
func Attr(_ []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok && a.Value.Kind() == slog.KindAny {
		return slog.String(a.Key, Text(err))
	}
	if a.Value.Kind() == slog.KindString {
		return slog.String(a.Key, Clean(a.Value.String()))
	}
	return a
}
