// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	stageapi "github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/e2e/drive"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// kubernetesScale is how much is done for the figures of applying manifests.
type kubernetesScale struct{ rounds, compared, many, most int }

func (s *kubernetesScale) register(flags *flag.FlagSet) {
	flags.IntVar(&s.rounds, "kubernetes-rounds", 3,
		"times that each set of manifests is applied, to a separate namespace")
	flags.IntVar(&s.compared, "compared-manifests", 100, "ConfigMaps that are applied by kubectl, too")
	flags.IntVar(&s.many, "many-manifests", 500, "ConfigMaps that are applied, and applied again")
	flags.IntVar(&s.most, "most-manifests", 1000, "manifests that the memory of the plugin is measured with")
}

func (s *kubernetesScale) validate() error {
	if s.rounds < 1 || s.compared < 1 || s.many < 1 || s.most < 20 {
		return errors.New("-kubernetes-rounds, -compared-manifests and -many-manifests must be at least 1, " +
			"-most-manifests 20")
	}
	return nil
}

var (
	shareOfEachLimit = limit{"max", 20}   // % of the time of one kubectl for each manifest
	shareOfAllLimit  = limit{"max", 100}  // % of the time of one kubectl for the directory
	manyLimit        = limit{"max", 2000} // ms
	againLimit       = limit{"max", 150}  // ms
	writesLimit      = limit{"max", 1}
	pluginLimit      = limit{"max", 128} // MiB
)

// benchKubernetes measures what applying manifests costs on the embedded cluster, next to kubectl on the same one.
func benchKubernetes(ctx context.Context, bin, dir string, size kubernetesScale) (err error) {
	kubectl := filepath.Join(dir, "kubectl")
	if _, err := goCommand(ctx, filepath.Join("e2e", "bench", "kubectl"), "build", "-o", kubectl, "."); err != nil {
		return fmt.Errorf("compile kubectl: %w", err)
	}
	kubeconfig, stop, err := startKubernetes(ctx, filepath.Join(dir, "cluster"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	b := &kubernetesBench{size: size, kubectl: kubectl, kubeconfig: kubeconfig, dir: dir,
		program: filepath.Join(bin, "plugins", "kubernetes")}
	for _, measure := range []func(context.Context) error{b.compare, b.many, b.most} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startKubernetes returns the kubeconfig of an embedded Kubernetes that answers, until stop.
func startKubernetes(ctx context.Context, dir string) (kubeconfig string, stop func() error, err error) {
	program, err := embedded.FromCheckout(".")
	if err != nil {
		return "", nil, err
	}
	kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	provider := embedded.New(embedded.Config{
		Program: program, Dir: filepath.Join(dir, "data"), Kubeconfig: kubeconfig, LogFile: filepath.Join(dir, "log"),
		Logger: slog.New(slog.DiscardHandler),
	})
	stop, err = drive.StartCluster(ctx, provider)
	return kubeconfig, stop, err
}

type kubernetesBench struct {
	size                              kubernetesScale
	kubectl, kubeconfig, dir, program string
	namespaces                        int
}

// compare applies the same ConfigMaps by one kubectl for each, by one for all of them, and by the plugin.
func (b *kubernetesBench) compare(ctx context.Context) error {
	files := configMaps(b.size.compared)
	plugin, err := b.start(ctx)
	if err != nil {
		return err
	}
	err = func() error {
		// No one's first call counts: kubectl keeps on disk, and the plugin in memory, which kinds the API has.
		if _, err := b.applyAll(ctx, configMaps(1)); err != nil {
			return err
		}
		if _, err := plugin.sync(ctx, b.namespace(), configMaps(1)); err != nil {
			return err
		}
		var each, all, ours []time.Duration
		for range b.size.rounds {
			for into, apply := range map[*[]time.Duration]func(context.Context, map[string]string) (time.Duration,
				error){
				&each: b.applyEach, &all: b.applyAll,
				&ours: func(ctx context.Context, files map[string]string) (time.Duration, error) {
					return plugin.sync(ctx, b.namespace(), files)
				},
			} {
				took, err := apply(ctx, files)
				if err != nil {
					return err
				}
				*into = append(*into, took)
			}
		}
		n := b.size.compared
		figures(fmt.Sprintf("%d ConfigMaps, one kubectl apply each", n), each)
		figures(fmt.Sprintf("%d ConfigMaps, kubectl apply of the directory", n), all)
		figures(fmt.Sprintf("%d ConfigMaps, K8S_SYNC", n), ours)
		number("K8S_SYNC next to one kubectl apply each", "%", share(ours, each), shareOfEachLimit)
		number("K8S_SYNC next to kubectl apply of the directory", "%", share(ours, all), shareOfAllLimit)
		return nil
	}()
	return errors.Join(err, plugin.close())
}

// share is the median of a in percent of that of b.
func share(a, b []time.Duration) float64 {
	median := func(d []time.Duration) float64 { return float64(slices.Sorted(slices.Values(d))[len(d)/2]) }
	return 100 * median(a) / median(b)
}

// many applies more ConfigMaps, then once more without a change.
func (b *kubernetesBench) many(ctx context.Context) error {
	files := configMaps(b.size.many)
	plugin, err := b.start(ctx)
	if err != nil {
		return err
	}
	err = func() error {
		var first, again []time.Duration
		var cpu []float64
		writes := 0
		for range b.size.rounds {
			namespace := b.namespace()
			before, err := cpuOf(plugin.program.Pid())
			if err != nil {
				return err
			}
			took, err := plugin.sync(ctx, namespace, files)
			if err != nil {
				return err
			}
			after, err := cpuOf(plugin.program.Pid())
			if err != nil {
				return err
			}
			first, cpu = append(first, took), append(cpu, (after-before).Seconds())
			was, err := b.versions(ctx, namespace)
			if err != nil {
				return err
			}
			if took, err = plugin.sync(ctx, namespace, files); err != nil {
				return err
			}
			again = append(again, took)
			is, err := b.versions(ctx, namespace)
			if err != nil {
				return err
			}
			for name, version := range is {
				if was[name] != version {
					writes++
				}
			}
		}
		figures(fmt.Sprintf("%d ConfigMaps, K8S_SYNC", b.size.many), first, manyLimit)
		numbers("  CPU of the plugin", "s ", cpu)
		figures(fmt.Sprintf("%d ConfigMaps again, nothing has changed", b.size.many), again, againLimit)
		number("  objects that were written", "", float64(writes), writesLimit)
		return nil
	}()
	return errors.Join(err, plugin.close())
}

// most applies more manifests of several kinds by a plugin that is started for them, and looks at its memory.
func (b *kubernetesBench) most(ctx context.Context) error {
	files := configMaps(b.size.most * 80 / 100)
	for i := range b.size.most * 15 / 100 {
		name := fmt.Sprintf("service-%04d", i)
		files[name+".yaml"] = fmt.Sprintf(benchService, name)
	}
	for i := len(files); i < b.size.most; i++ {
		name := fmt.Sprintf("deployment-%04d", i)
		files[name+".yaml"] = fmt.Sprintf(benchDeployment, name)
	}
	plugin, err := b.start(ctx)
	if err != nil {
		return err
	}
	err = func() error {
		namespace := b.namespace()
		took, err := plugin.sync(ctx, namespace, files)
		if err != nil {
			return err
		}
		again, err := plugin.sync(ctx, namespace, files)
		if err != nil {
			return err
		}
		peak, err := peakOf(plugin.program.Pid())
		if err != nil {
			return err
		}
		figures(fmt.Sprintf("%d manifests of 3 kinds, K8S_SYNC until ready", len(files)), []time.Duration{took})
		figures(fmt.Sprintf("%d manifests again, nothing has changed", len(files)), []time.Duration{again})
		number("  most memory of the plugin", "MiB", peak/(1<<20), pluginLimit)
		return nil
	}()
	return errors.Join(err, plugin.close())
}

const (
	benchConfigMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: config-%04d
data:
  number: "%d"
  text: some lines of a configuration that is neither short nor long
`
	benchService = `apiVersion: v1
kind: Service
metadata:
  name: %[1]s
spec:
  selector: {app: %[1]s}
  ports: [{port: 80, targetPort: 8080}]
`
	benchDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: main, image: "app:v1"}]}
`
)

// configMaps returns manifests by the name of their file.
func configMaps(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("config-%04d.yaml", i)] = fmt.Sprintf(benchConfigMap, i, i)
	}
	return files
}

func (b *kubernetesBench) namespace() string {
	b.namespaces++
	return fmt.Sprintf("bench-%d", b.namespaces)
}

// applyEach runs one kubectl for each file.
func (b *kubernetesBench) applyEach(ctx context.Context, files map[string]string) (time.Duration, error) {
	return b.applied(ctx, files, func(dir, namespace string) error {
		for name := range files {
			if _, err := b.run(ctx, "-n", namespace, "apply", "-f", filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// applyAll runs one kubectl for the directory.
func (b *kubernetesBench) applyAll(ctx context.Context, files map[string]string) (time.Duration, error) {
	return b.applied(ctx, files, func(dir, namespace string) error {
		_, err := b.run(ctx, "-n", namespace, "apply", "-f", dir)
		return err
	})
}

// applied times apply with the files in a directory and a namespace that is there.
func (b *kubernetesBench) applied(ctx context.Context, files map[string]string,
	apply func(dir, namespace string) error) (time.Duration, error) {
	namespace := b.namespace()
	dir, err := b.write(namespace, files)
	if err != nil {
		return 0, err
	}
	if _, err := b.run(ctx, "create", "namespace", namespace); err != nil {
		return 0, err
	}
	began := time.Now()
	err = apply(dir, namespace)
	return time.Since(began), err
}

func (b *kubernetesBench) write(name string, files map[string]string) (dir string, err error) {
	dir = filepath.Join(b.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (b *kubernetesBench) run(ctx context.Context, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, b.kubectl,
		append([]string{"--kubeconfig", b.kubeconfig, "--cache-dir", filepath.Join(b.dir, "cache")}, args...)...)
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("kubectl %s: %w: %s", args[0], err, exit.Stderr)
	}
	return out, err
}

// versions returns the resource version of each ConfigMap.
func (b *kubernetesBench) versions(ctx context.Context, namespace string) (map[string]string, error) {
	out, err := b.run(ctx, "-n", namespace, "get", "configmaps", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name, ResourceVersion string } `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("read what kubectl lists: %w", err)
	}
	versions := map[string]string{}
	for _, item := range list.Items {
		versions[item.Metadata.Name] = item.Metadata.ResourceVersion
	}
	return versions, nil
}

// pluginUnderTest is a process of the kubernetes plugin, and a stand-in for the piped that it talks to.
type pluginUnderTest struct {
	bench   *kubernetesBench
	piped   *standin.Piped
	program *standin.Program
	stages  int
}

func (b *kubernetesBench) start(ctx context.Context) (*pluginUnderTest, error) {
	piped, err := standin.Start(standin.Options{})
	if err != nil {
		return nil, err
	}
	target, err := json.Marshal(map[string]string{"kubeConfigPath": b.kubeconfig})
	if err != nil {
		return nil, err
	}
	settings := sdk.Settings{Name: "kubernetes", URL: "file://" + b.program,
		DeployTargets: []sdk.DeployTargetConfig{{Name: "bench", Config: target}}}
	program, err := standin.StartProgram(ctx, b.program, "", piped.Address, settings, io.Discard)
	if err != nil {
		return nil, errors.Join(err, piped.Close())
	}
	return &pluginUnderTest{bench: b, piped: piped, program: program}, nil
}

func (p *pluginUnderTest) close() error { return errors.Join(p.program.Close(), p.piped.Close()) }

// sync times a K8S_SYNC of the files, from the call to the answer: connecting, loading and creating the namespace
// included.
func (p *pluginUnderTest) sync(ctx context.Context, namespace string, files map[string]string) (time.Duration, error) {
	dir, err := p.bench.write(namespace, files)
	if err != nil {
		return 0, err
	}
	p.stages++
	request := standin.ExecuteRequest("kubernetes", []string{"bench"}, "K8S_SYNC", "")
	request.Input.Deployment.ApplicationId = namespace
	request.Input.Stage.Id = fmt.Sprintf("stage-%d", p.stages)
	request.Input.TargetDeploymentSource = &common.DeploymentSource{
		ApplicationDirectory: dir, CommitHash: "0123456789abcdef", ApplicationConfigFilename: "app.pipecd.yaml",
		SharedConfigDirectory: filepath.Join(dir, ".pipe"),
		ApplicationConfig: fmt.Appendf(nil,
			"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: bench\n  plugins:\n"+
				"    kubernetes:\n      input: {namespace: %s, autoCreateNamespace: true}\n", namespace),
	}
	began := time.Now()
	answer, err := stageapi.NewDeploymentServiceClient(p.program.Conn).ExecuteStage(ctx, request)
	took := time.Since(began)
	if err == nil && answer.GetStatus() != model.StageStatus_STAGE_SUCCESS {
		err = fmt.Errorf("K8S_SYNC ended as %s: %s", answer.GetStatus(), answer.GetMessage())
	}
	return took, err
}
