// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Pipeds knows the keys of pipeds.
type Pipeds interface {
	// Key returns the hash of an enabled piped's key.
	Key(pipedID string) (store.KeyHash, bool)
	// Saw notes that a piped called.
	Saw(pipedID string)
	// Refused notes that a call with the id of a piped was refused.
	Refused(pipedID string)
}

// Authenticator checks the credentials of every call.
type Authenticator struct {
	project string
	pipeds  Pipeds
	apiKey  store.KeyHash
	// refused gets each refused call; it must not block.
	refused func(method string, reason error)
}

// New returns an authenticator for the pipeds of a project and for users with the API key. It calls refused with the
// reason for each refused call; refused must not block.
func New(
	project string, pipeds Pipeds, apiKey string, refused func(method string, reason error),
) (*Authenticator, error) {
	if _, err := parseAPIKey(apiKey); err != nil {
		return nil, fmt.Errorf("use the API key: it must have the form <id>.<secret> with one dot: %w", err)
	}
	return &Authenticator{project: project, pipeds: pipeds, apiKey: Hash(apiKey), refused: refused}, nil
}

// Hash returns what is kept of a secret.
func Hash(secret string) store.KeyHash { return sha256.Sum256([]byte(secret)) }

type callerKey struct{}

type caller struct{ piped, apiKey string }

// Piped returns the id of the calling piped; empty when the caller is none.
func Piped(ctx context.Context) string {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c.piped
}

// APIKeyID returns the id of the API key of the caller; empty when it has none.
func APIKeyID(ctx context.Context) string {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c.apiKey
}

// Check decides about a call by its method and headers. It returns a context that carries the caller, or an error for
// the caller: Unauthenticated, or Unimplemented for services that do not exist.
func (a *Authenticator) Check(ctx context.Context, method string, md metadata.MD) (context.Context, error) {
	service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	var c caller
	var err error
	switch service {
	case "grpc.health.v1.Health":
		return ctx, nil
	case "grpc.service.pipedservice.PipedService", "pipedeck.agent.v1.AgentService",
		"pipedeck.agent.v1.PluginCallService", "pipedeck.agent.v1.StageRerunService", "pipedeck.agent.v1.FaultService":
		c.piped, err = a.pipedCaller(md)
	case "grpc.service.apiservice.APIService", "pipedeck.deck.v1.DeckService", "pipedeck.deck.v1.PlanPreviewService",
		"pipedeck.deck.v1.EventService", "pipedeck.deck.v1.PluginCallService", "pipedeck.deck.v1.FaultService",
		"pipedeck.deck.v1.PluginDevelopmentService", "pipedeck.deck.v1.SharingService",
		"pipedeck.image.v1.ImageService":
		c.apiKey, err = a.apiCaller(md)
	default:
		// Not a refusal: clients of OpenTelemetry ask, and stop.
		return nil, status.Error(codes.Unimplemented, "unknown service")
	}
	if err != nil {
		a.refused(method, err)
		return nil, status.Error(codes.Unauthenticated, "Unauthenticated")
	}
	return context.WithValue(ctx, callerKey{}, c), nil
}

func (a *Authenticator) pipedCaller(md metadata.MD) (string, error) {
	kind, value, err := credentials(md)
	if err != nil {
		return "", err
	}
	if kind != pipedToken {
		return "", fmt.Errorf("%q credentials where a piped token belongs", kind)
	}
	project, id, key, err := parsePipedToken(value)
	if err != nil {
		return "", err
	}
	want, known := a.pipeds.Key(id)
	if !equal(Hash(key), want) || !known {
		a.pipeds.Refused(id)
		return "", fmt.Errorf("wrong key, or unknown or disabled piped %q", id)
	}
	if project != a.project {
		a.pipeds.Refused(id)
		return "", fmt.Errorf("unknown project %q", project)
	}
	a.pipeds.Saw(id)
	return id, nil
}

func (a *Authenticator) apiCaller(md metadata.MD) (string, error) {
	kind, value, err := credentials(md)
	if err != nil {
		return "", err
	}
	if kind != apiKey {
		return "", fmt.Errorf("%q credentials where an API key belongs", kind)
	}
	id, err := parseAPIKey(value)
	if err != nil {
		return "", err
	}
	if !equal(Hash(value), a.apiKey) {
		return "", fmt.Errorf("unknown API key %q", id)
	}
	return id, nil
}

func equal(a, b store.KeyHash) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }
