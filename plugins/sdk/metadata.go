// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"encoding/json"
	"fmt"
)

// StageKey names a value of type T that a stage keeps for itself, as JSON. What an attempt put, the next
// attempt at the same stage gets, also after piped or the plugin was started again.
//
//	const done sdk.StageKey[int] = "done"
type StageKey[T any] string

// Get reads the value; found is false when the stage has put none. A value of another type is an error.
func (k StageKey[T]) Get(ctx context.Context, client *StageClient) (value T, found bool, err error) {
	text, found, err := client.StageMetadata(ctx, string(k))
	return decodeMetadata[T](string(k), text, found, err)
}

// Put stores the value. It returns when the control plane has it.
func (k StageKey[T]) Put(ctx context.Context, client *StageClient, value T) error {
	return encodeMetadata(ctx, string(k), value, client.PutStageMetadata)
}

// DeploymentKey names a value of type T that all stages of this plugin share within one deployment, as JSON.
type DeploymentKey[T any] string

// Get reads the value; found is false when no stage has put one. A value of another type is an error.
func (k DeploymentKey[T]) Get(ctx context.Context, client *StageClient) (value T, found bool, err error) {
	text, found, err := client.PluginMetadata(ctx, string(k))
	return decodeMetadata[T](string(k), text, found, err)
}

// Put stores the value. It returns when the control plane has it.
func (k DeploymentKey[T]) Put(ctx context.Context, client *StageClient, value T) error {
	return encodeMetadata(ctx, string(k), value, client.PutPluginMetadata)
}

// Display shows users a short text next to the stage; the last one stays. Each is a call to the control plane, so a
// stage should not make many in a second. Progress has a separate method.
func (c *StageClient) Display(ctx context.Context, text string) error {
	c.reports.own()
	return c.PutStageMetadata(ctx, DisplayMetadataKey, text)
}

func decodeMetadata[T any](key, text string, found bool, err error) (T, bool, error) {
	var value T
	if err != nil || !found {
		return value, false, err
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		// The text is left out: it may be a secret.
		return value, false, fmt.Errorf("metadata %s does not hold a %T: %w", key, value, decodeError(err))
	}
	return value, true, nil
}

func encodeMetadata(ctx context.Context, key string, value any, put func(context.Context, string, string) error) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("metadata %s: %w", key, err)
	}
	return put(ctx, key, string(data))
}
