// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/filelock"
)

const (
	// cleanupDeadline bounds the removal after a creation that ended early.
	cleanupDeadline = 30 * time.Second
	// removalPause lies between two removals while kind's library still makes containers.
	removalPause = 200 * time.Millisecond
)

// create makes the cluster and returns when it is ready; otherwise nothing of it is left.
func (p *Provider) create(
	ctx context.Context, engine *engineCommand, wanted *v1alpha4.Cluster, progress cluster.Progress, ready func(string),
) error {
	if err := p.pullImages(ctx, engine, wanted, progress); err != nil {
		return err
	}
	lock, err := joinNetwork()
	if err != nil {
		return err
	}
	defer func() { _ = filelock.Release(lock) }()
	before, err := engine.networkID(ctx)
	if err != nil {
		return err
	}
	made := &record.Record{
		State: record.StateCreating, Cluster: p.name, Engine: engine.name, NetworkBefore: before,
		Nodes: nodeNames(wanted), Image: wanted.Nodes[0].Image,
	}
	if err := made.Write(p.Dir); err != nil {
		return err
	}
	err = p.createRecorded(ctx, engine, made, wanted, progress, ready)
	// The removal below may concern the network, too.
	_ = filelock.Release(lock)
	if err != nil {
		return p.undo(ctx, err)
	}
	return nil
}

// loadBalancerSuffix ends the name of the container before several control planes.
const loadBalancerSuffix = "-external-load-balancer"

// nodeNames are the names that kind gives to the containers of a cluster.
func nodeNames(wanted *v1alpha4.Cluster) []string {
	count := map[v1alpha4.NodeRole]int{}
	var names []string
	for _, node := range wanted.Nodes {
		count[node.Role]++
		name := wanted.Name + "-" + string(node.Role)
		if n := count[node.Role]; n > 1 {
			name += strconv.Itoa(n)
		}
		names = append(names, name)
	}
	if count[v1alpha4.ControlPlaneRole] > 1 {
		names = append(names, wanted.Name+loadBalancerSuffix)
	}
	return names
}

func (p *Provider) createRecorded(ctx context.Context, engine *engineCommand, made *record.Record,
	wanted *v1alpha4.Cluster, progress cluster.Progress, ready func(string)) error {
	log, err := openLog(p.LogFile)
	if err != nil {
		return err
	}
	defer log.Close()
	steps := newSteps(progress, log, wanted)
	library := kindcluster.NewProvider(engine.option(), kindcluster.ProviderWithLogger(steps))
	if err := p.createByLibrary(ctx, engine, library, wanted); err != nil {
		log.failure(err)
		var unfinished *leftoverError
		if errors.As(err, &unfinished) {
			return err
		}
		return p.explain(err)
	}
	if err := p.publishCreated(); err != nil {
		return err
	}
	p.TakesImages()
	// Each of the two asks the engine a few times, which adds up.
	var version string
	both, bothCtx := errgroup.WithContext(ctx)
	both.Go(func() error { return p.claimNetwork(bothCtx, engine, made) })
	both.Go(func() (err error) {
		version, err = p.awaitNodes(bothCtx, engine, func(detail string) { steps.waiting(detail) })
		return err
	})
	if err := both.Wait(); err != nil {
		return err
	}
	if err := p.export(library, made); err != nil {
		return err
	}
	made.State = record.StateReady
	if err := made.Write(p.Dir); err != nil {
		return err
	}
	ready(p.about(engine, version, ""))
	return nil
}

// createByLibrary returns when the library has ended. It takes no context: its containers are
// removed under it until it gives up.
func (p *Provider) createByLibrary(
	ctx context.Context, engine *engineCommand, library *kindcluster.Provider, wanted *v1alpha4.Cluster,
) error {
	created := make(chan error, 1)
	go func() {
		created <- library.Create(p.name,
			kindcluster.CreateWithV1Alpha4Config(wanted),
			// The library's own removal knows neither the record nor the network.
			kindcluster.CreateWithRetain(true),
			kindcluster.CreateWithKubeconfigPath(p.privateKubeconfig()),
		)
	}()
	select {
	case err := <-created:
		return err
	case <-ctx.Done():
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupDeadline)
	defer cancel()
	for {
		// It fails as long as the engine makes the container.
		_, _ = engine.tryRemoveNodes(cleanup, p.name)
		select {
		case <-created:
			return context.Cause(ctx)
		case <-time.After(removalPause):
		case <-cleanup.Done():
			// Whoever ends this process ends the library; the record stays for the next one.
			return &leftoverError{&cluster.HintError{
				Err: fmt.Errorf("%w, but %s does not end the creation of the cluster %s", context.Cause(ctx),
					engine.name, p.name),
				Hint: "restart the container engine, then run pipedeck down",
			}}
		}
	}
}

// undo removes what a creation that failed has made.
func (p *Provider) undo(ctx context.Context, cause error) error {
	var unfinished *leftoverError
	if errors.As(cause, &unfinished) {
		return cause
	}
	var taken *foreignError
	if errors.As(cause, &taken) {
		return errors.Join(cause, record.Forget(p.Dir))
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupDeadline)
	defer cancel()
	err := p.Delete(cleanup)
	if err == nil {
		return cause
	}
	hint := "run pipedeck down"
	var known *cluster.HintError
	if errors.As(err, &known) {
		hint = known.Hint
	}
	// The log has all of the cause; here it would hide what is left to do.
	because, _, _ := strings.Cut(cause.Error(), "\n")
	return &leftoverError{&cluster.HintError{
		Err:  fmt.Errorf("the cluster was not finished (%s), and what was made so far is left: %w", because, err),
		Hint: hint,
	}}
}

// leftoverError is one that users must see even when they ended the work themselves.
type leftoverError struct{ err error }

func (e *leftoverError) Error() string { return e.err.Error() }

func (e *leftoverError) Unwrap() error { return e.err }

// publishCreated gives the kubeconfig that the library has just written to whoever waits for it.
func (p *Provider) publishCreated() error {
	content, err := os.ReadFile(p.privateKubeconfig())
	if err == nil {
		err = workspace.WriteFile(p.Kubeconfig, content)
	}
	if err != nil {
		return fmt.Errorf("write the cluster's kubeconfig: %w", err)
	}
	return nil
}

// adopt brings a cluster of an earlier run up again.
func (p *Provider) adopt(
	ctx context.Context, engine *engineCommand, nodes []string, progress cluster.Progress, ready func(string),
) error {
	progress("adopting the cluster of an earlier run", 0, 0)
	if err := engine.start(ctx, nodes); err != nil {
		return p.explain(err)
	}
	library := kindcluster.NewProvider(engine.option())
	if err := p.publish(library); err != nil {
		return err
	}
	p.TakesImages()
	version, err := p.awaitNodes(ctx, engine, func(detail string) { progress(detail, 0, 0) })
	if err != nil {
		return err
	}
	known, err := record.Read(p.Dir)
	if err != nil {
		return err
	}
	if err := p.export(library, known); err != nil {
		return err
	}
	ready(p.about(engine, version, ", adopted from an earlier run"))
	return nil
}

// about is the line that users read of a ready cluster.
func (p *Provider) about(engine *engineCommand, version, how string) string {
	return fmt.Sprintf("kind cluster %s, Kubernetes %s in %s%s", p.name, version, engine.name, how)
}

func (p *Provider) privateKubeconfig() string { return filepath.Join(p.Dir, "kubeconfig") }

// publish writes the kubeconfig whole, at a time when the API answers.
func (p *Provider) publish(library *kindcluster.Provider) error {
	content, err := library.KubeConfig(p.name, false)
	if err != nil {
		return p.explain(fmt.Errorf("get the kubeconfig of the cluster %s: %w", p.name, err))
	}
	if err := workspace.WriteFile(p.Kubeconfig, []byte(content)); err != nil {
		return fmt.Errorf("write the cluster's kubeconfig: %w", err)
	}
	return nil
}
