// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// The bounds of pipedeck's piped, in bytes.
const (
	maxMetadataValue = 256 << 10
	maxMetadataScope = 512 << 10
	maxSharedObject  = 8 << 20
)

// Client is the client of a stage for tests of single functions. It keeps what it is given, refuses what exceeds the
// bounds of piped, and really runs the scripts of tools. It may be used by several goroutines.
type Client struct {
	calls calls
	tools string
	// installing is held while a script runs.
	installing sync.Mutex

	mu       sync.Mutex
	metadata map[sdk.MetadataScope]map[string]string
	objects  map[[2]string][]byte
	progress []sdk.Progress
	targets  []sdk.TargetResult
	commands []sdk.Command
	// news is closed at the next command.
	news chan struct{}
}

var _ sdk.StageClient = (*Client)(nil)

// NewClient returns a client that keeps nothing yet. Tools are removed with the test.
func NewClient(t testing.TB) *Client {
	return &Client{
		tools: t.TempDir(), objects: map[[2]string][]byte{}, news: make(chan struct{}),
		metadata: map[sdk.MetadataScope]map[string]string{sdk.OfStage: {}, sdk.OfDeployment: {}, sdk.Shared: {}},
	}
}

// Fail has calls end with an error until it is nil. The calls are the methods of sdk.StageClient, such as PutMetadata.
func (c *Client) Fail(call string, err error) { c.calls.fail(call, err) }

// All returns a copy of the metadata of a scope.
func (c *Client) All(scope sdk.MetadataScope) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.metadata[scope])
}

// Set plays an earlier attempt, another stage, or piped: it stores a value of metadata in any scope.
func (c *Client) Set(scope sdk.MetadataScope, key, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metadata[scope][key] = value
}

// Reported is every progress that was reported, and the last result at each deploy target.
func (c *Client) Reported() ([]sdk.Progress, []sdk.TargetResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.progress), slices.Clone(c.targets)
}

// Approve sends an approval by a user.
func (c *Client) Approve(commander string) { c.command(sdk.OperationApprove, commander) }

// Skip sends a request to skip the stage, by a user.
func (c *Client) Skip(commander string) { c.command(sdk.OperationSkip, commander) }

func (c *Client) command(operation sdk.Operation, commander string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commands = append(c.commands, sdk.Command{ID: fmt.Sprintf("command-%d", len(c.commands)+1), Operation: operation,
		Commander: commander})
	close(c.news)
	c.news = make(chan struct{})
}

// Metadata implements [sdk.StageClient], as the methods below do.
func (c *Client) Metadata(ctx context.Context, scope sdk.MetadataScope, key string) (string, bool, error) {
	if err := c.begin(ctx, "Metadata"); err != nil {
		return "", false, fmt.Errorf("get %s metadata %s: %w", scope, key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	values, is := c.metadata[scope]
	if !is {
		return "", false, fmt.Errorf("get %s metadata %s: there is no such scope", scope, key)
	}
	value, found := values[key]
	return value, found, nil
}

// PutMetadata implements [sdk.StageClient].
func (c *Client) PutMetadata(ctx context.Context, scope sdk.MetadataScope, values map[string]string) error {
	if err := c.begin(ctx, "PutMetadata"); err != nil {
		return fmt.Errorf("put %s metadata: %w", scope, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, is := c.metadata[scope]
	if !is || scope == sdk.Shared {
		return fmt.Errorf("put %s metadata: it cannot be written", scope)
	}
	grown := maps.Clone(kept)
	maps.Copy(grown, values)
	size := 0
	for key, value := range grown {
		if len(value) > maxMetadataValue {
			return status.Errorf(codes.ResourceExhausted, "put %s metadata %s: the value has %d bytes; at most %d are "+
				"kept", scope, key, len(value), maxMetadataValue)
		}
		size += len(key) + len(value)
	}
	if size > maxMetadataScope {
		return status.Errorf(codes.ResourceExhausted, "put %s metadata: all values would take %d bytes; at most %d "+
			"are kept", scope, size, maxMetadataScope)
	}
	c.metadata[scope] = grown
	return nil
}

// Display implements [sdk.StageClient].
func (c *Client) Display(ctx context.Context, text string) error {
	return c.PutMetadata(ctx, sdk.OfStage, map[string]string{sdk.DisplayMetadataKey: text})
}

// Progress implements [sdk.StageClient].
func (c *Client) Progress(p sdk.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = append(c.progress, p)
}

// TargetResults implements [sdk.StageClient].
func (c *Client) TargetResults(results []sdk.TargetResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.targets = slices.Clone(results)
}

// Commands implements [sdk.StageClient].
func (c *Client) Commands(ctx context.Context) <-chan sdk.Command {
	out := make(chan sdk.Command)
	go func() { // ends with ctx, as the caller has to
		defer close(out)
		for sent := 0; ; {
			c.mu.Lock()
			waiting, news := slices.Clone(c.commands[sent:]), c.news
			c.mu.Unlock()
			for _, command := range waiting {
				select {
				case out <- command:
					sent++
				case <-ctx.Done():
					return
				}
			}
			select {
			case <-news:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// SharedObject implements [sdk.StageClient].
func (c *Client) SharedObject(ctx context.Context, applicationID, key string) ([]byte, bool, error) {
	if err := c.begin(ctx, "SharedObject"); err != nil {
		return nil, false, fmt.Errorf("get shared object %s of application %s: %w", key, applicationID, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	object, found := c.objects[[2]string{applicationID, key}]
	return slices.Clone(object), found, nil
}

// PutSharedObject implements [sdk.StageClient].
func (c *Client) PutSharedObject(ctx context.Context, applicationID, key string, object []byte) error {
	if err := c.begin(ctx, "PutSharedObject"); err != nil {
		return fmt.Errorf("put shared object %s of application %s: %w", key, applicationID, err)
	}
	if len(object) > maxSharedObject {
		return status.Errorf(codes.ResourceExhausted, "put shared object %s of application %s: it has %d bytes; at "+
			"most %d are kept", key, applicationID, len(object), maxSharedObject)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[[2]string{applicationID, key}] = slices.Clone(object)
	return nil
}

// begin is what ends a call before it has an effect.
func (c *Client) begin(ctx context.Context, call string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.calls.made(call)
}
