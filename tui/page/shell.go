// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"crypto/sha256"
	_ "embed" // for the two files
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

//go:embed shell/shell.js
var shellScript string

//go:embed shell/shell.css
var shellStyle string

// shell is what a browser without a session gets: it brings the token, and knows nothing else.
type shell struct{ content, policy string }

func newShell() shell {
	script, style := strings.TrimSpace(shellScript), strings.TrimSpace(shellStyle)
	return shell{
		content: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>pipedeck</title>` +
			`<meta name="viewport" content="width=device-width, initial-scale=1"><style>` + style + `</style></head>` +
			`<body><main><h1>pipedeck</h1><p role="status">This page needs JavaScript.</p></main>` +
			`<script>` + script + `</script></body></html>` + "\n",
		policy: fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; connect-src 'self'; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'", hashOf(script), hashOf(style)),
	}
}

// hashOf names a text in a content security policy.
func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (s shell) send(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", kinds[".html"])
	w.Header().Set("Content-Security-Policy", s.policy)
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(s.content)) // the reader may be gone
	}
}
