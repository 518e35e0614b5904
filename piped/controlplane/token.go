// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/credentials"
)

// token is sent with every call. PipeCD v1: "PIPED-TOKEN <project>,<piped>,<key>".
type token struct {
	text   string
	secure bool
}

var _ credentials.PerRPCCredentials = (*token)(nil)

func newToken(o Options) (*token, error) {
	parts := []struct{ name, text string }{
		{"projectID", o.ProjectID}, {"pipedID", o.PipedID}, {"the piped key", strings.TrimSpace(string(o.Key))},
	}
	text := make([]string, len(parts))
	for i, part := range parts {
		switch {
		case part.text == "":
			return nil, fmt.Errorf("%s is empty", part.name)
		case strings.ContainsAny(part.text, ", \t\r\n"):
			return nil, fmt.Errorf("%s holds a comma or white space, which no control plane accepts", part.name)
		}
		text[i] = part.text
	}
	return &token{text: "PIPED-TOKEN " + strings.Join(text, ","), secure: !o.Insecure}, nil
}

// GetRequestMetadata returns the authorization entry.
func (t *token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if t.text == "" {
		return nil, errors.New("no piped token")
	}
	return map[string]string{"authorization": t.text}, nil
}

// RequireTransportSecurity keeps the key off plain text unless the user asked for that.
func (t *token) RequireTransportSecurity() bool { return t.secure }
