// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
)

// deferredHooks names the post-start hooks that Bootstrap runs in the server's stead.
func deferredHooks() []string {
	return []string{rbacrest.PostStartHookName, schedulingrest.PostStartHookName}
}

// Bootstrap writes the default roles, role bindings and priority classes to a server that is ready. They appear a
// little over a second later; until then only the administrator may do anything. The hooks know of no context: when ctx
// ends Bootstrap returns nil, and a hook that is under way goes on until its next request fails or the process ends.
func Bootstrap(ctx context.Context, client *rest.Config) error {
	hookContext := server.PostStartHookContext{LoopbackClientConfig: client, Context: ctx}
	for _, provider := range []server.PostStartHookProvider{
		schedulingrest.RESTStorageProvider{}, rbacrest.RESTStorageProvider{},
	} {
		name, hook, err := provider.PostStartHook()
		if err != nil {
			return fmt.Errorf("find %s: %w", name, err)
		}
		done := make(chan error, 1)
		go func() { done <- hook(hookContext) }()
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("run %s: %w", name, err)
			}
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}
