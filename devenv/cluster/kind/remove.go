// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"

	kindcluster "sigs.k8s.io/kind/pkg/cluster"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Delete implements cluster.Provider. It needs the record only.
func (p *Provider) Delete(ctx context.Context) error {
	known, err := record.Read(p.Dir)
	if err != nil {
		return err
	}
	if known != nil {
		if err := remove(ctx, known); err != nil {
			return fmt.Errorf("delete the kind cluster %s: %w", known.Cluster, err)
		}
	}
	return record.RemoveFiles(p.Dir, p.Kubeconfig)
}

// remove removes what a record names from the engine and from the user's kubeconfig.
func remove(ctx context.Context, known *record.Record) error {
	engine := &engineCommand{known.Engine}
	if err := engine.answers(ctx); err != nil {
		var silent *cluster.HintError
		if errors.As(err, &silent) {
			silent.Hint = "start the container engine, then run pipedeck down"
		}
		return err
	}
	if err := engine.removeNodes(ctx, known.Cluster); err != nil {
		return err
	}
	if known.State == record.StateCreating {
		if err := engine.settle(ctx, known); err != nil {
			return err
		}
	}
	if known.ExportedTo != "" {
		if err := withdraw(engine, known); err != nil {
			return err
		}
	}
	return engine.leaveNetwork(ctx, known)
}

// nameTaken are the words of the engines for a container whose name another has.
var nameTaken = regexp.MustCompile(`already (in use|used)`)

// settle returns when the engine works on no container of a creation that ended early. The command
// that asked for one may be gone while the engine still makes it, and until then it is listed
// nowhere; but its name is taken, and whoever gets the name knows that there is nothing more to come.
func (e *engineCommand) settle(ctx context.Context, known *record.Record) error {
	free := map[string]bool{}
	for {
		for _, node := range known.Nodes {
			if !free[node] {
				_, err := e.run(ctx, "create", "--pull", "never", "--name", node, "--label",
					clusterLabel+"="+known.Cluster, known.Image)
				// With another error the engine cannot make it for the creation either.
				free[node] = err == nil || ctx.Err() == nil && !nameTaken.MatchString(err.Error())
			}
		}
		if err := e.removeNodes(ctx, known.Cluster); err != nil {
			return err
		}
		if !slices.ContainsFunc(known.Nodes, func(node string) bool { return !free[node] }) {
			return nil
		}
		if !clock.Sleep(ctx, removalPause) {
			return fmt.Errorf("%s still makes a node of %s: %w", e.name, known.Cluster, context.Cause(ctx))
		}
	}
}

// withdraw takes the context out of the user's kubeconfig.
func withdraw(engine *engineCommand, known *record.Record) error {
	if _, err := os.Stat(known.ExportedTo); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	library := kindcluster.NewProvider(engine.option())
	wasCurrent := currentContext(known.ExportedTo) == contextName(known.Cluster)
	err := library.Delete(known.Cluster, known.ExportedTo)
	if err == nil && wasCurrent {
		err = restoreContext(known.ExportedTo, known.ContextBefore)
	}
	if err != nil {
		return &cluster.HintError{
			Err:  fmt.Errorf("take the context %s out of %s: %w", contextName(known.Cluster), known.ExportedTo, err),
			Hint: "fix the file, then run pipedeck down",
		}
	}
	return nil
}
