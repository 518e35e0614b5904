// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strings"
)

type warningKey struct{}

// WithWarnings makes the API's warnings about requests under ctx ("… is deprecated in v1.99") go to report.
func WithWarnings(ctx context.Context, report func(string)) context.Context {
	return context.WithValue(ctx, warningKey{}, report)
}

// warnings passes a warning to whoever made the request.
type warnings struct{}

func (warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	if report, ok := ctx.Value(warningKey{}).(func(string)); ok && code == 299 && text != "" {
		report(text)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
