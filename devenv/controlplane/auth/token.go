// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"errors"
	"strings"

	"google.golang.org/grpc/metadata"
)

// The kinds of credentials, as they stand in the authorization metadata.
const (
	pipedToken = "PIPED-TOKEN"
	apiKey     = "API-KEY"
)

var (
	errMissing   = errors.New("no authorization metadata")
	errMalformed = errors.New("malformed credentials")
)

// credentials returns the kind and the value of the first authorization entry. PipeCD v1: it is
// split at spaces and must give exactly two parts.
func credentials(md metadata.MD) (kind, value string, err error) {
	values := md.Get("authorization")
	if len(values) == 0 {
		return "", "", errMissing
	}
	parts := strings.Split(values[0], " ")
	if len(parts) != 2 {
		return "", "", errMalformed
	}
	return parts[0], parts[1], nil
}

// parsePipedToken takes "<project>,<piped>,<key>" apart.
func parsePipedToken(value string) (project, piped, key string, err error) {
	parts := strings.Split(strings.TrimSpace(value), ",")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return "", "", "", errMalformed
	}
	return parts[0], parts[1], parts[2], nil
}

// parseAPIKey returns the id of "<id>.<secret>", which holds exactly one dot.
func parseAPIKey(value string) (id string, err error) {
	parts := strings.Split(value, ".")
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return "", errMalformed
	}
	return parts[0], nil
}
