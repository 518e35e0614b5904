// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"encoding/json"
	"fmt"
)

// StageKey names a value of type T that a stage keeps for itself, as JSON. What an attempt put, the next
// attempt at the same stage gets, also after piped or the plugin was started again. When a user has the stage run once
// more, what the runs before have put is not found.
//
//	const done sdk.StageKey[int] = "done"
//
// A value of the type Text is stored as it is, for UIs and for other plugins.
type StageKey[T any] string

// Text is the type of a value of metadata that is stored without JSON.
type Text string

// Get reads the value; found is false when the stage has put none. A value of another type is an error.
func (k StageKey[T]) Get(ctx context.Context, client StageClient) (value T, found bool, err error) {
	return getMetadata[T](ctx, client, OfStage, string(k))
}

// Put stores the value. It returns when the control plane has it.
func (k StageKey[T]) Put(ctx context.Context, client StageClient, value T) error {
	return putMetadata(ctx, client, OfStage, string(k), value)
}

// DeploymentKey names a value of type T that all stages of this plugin share within one deployment, like StageKey.
type DeploymentKey[T any] string

// Get reads the value; found is false when no stage has put one. A value of another type is an error.
func (k DeploymentKey[T]) Get(ctx context.Context, client StageClient) (value T, found bool, err error) {
	return getMetadata[T](ctx, client, OfDeployment, string(k))
}

// Put stores the value. It returns when the control plane has it.
func (k DeploymentKey[T]) Put(ctx context.Context, client StageClient, value T) error {
	return putMetadata(ctx, client, OfDeployment, string(k), value)
}

// SharedKey names a value of type T that piped keeps for all plugins of a deployment, like StageKey.
type SharedKey[T any] string

// Get reads the value; found is false when there is none. A value of another type is an error.
func (k SharedKey[T]) Get(ctx context.Context, client StageClient) (value T, found bool, err error) {
	return getMetadata[T](ctx, client, Shared, string(k))
}

func getMetadata[T any](ctx context.Context, client StageClient, scope MetadataScope, key string) (value T, found bool,
	err error) {
	text, found, err := client.Metadata(ctx, scope, key)
	if err != nil || !found {
		return value, false, err
	}
	if raw, is := any(&value).(*Text); is {
		*raw = Text(text)
		return value, true, nil
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		// The text is left out: it may be a secret.
		return value, false, fmt.Errorf("metadata %s does not hold a %T: %w", key, value, decodeError(err))
	}
	return value, true, nil
}

func putMetadata(ctx context.Context, client StageClient, scope MetadataScope, key string, value any) error {
	if text, is := value.(Text); is {
		return client.PutMetadata(ctx, scope, map[string]string{key: string(text)})
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("metadata %s: %w", key, err)
	}
	return client.PutMetadata(ctx, scope, map[string]string{key: string(data)})
}
