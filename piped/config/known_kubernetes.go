// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "encoding/json"

// amount is a whole number, or a text of one with or without a percent sign.
type amount string

type kubernetesApplication struct {
	// Input says where the manifests come from and how they are applied.
	Input kubernetesInput `json:"input"`
	// QuickSync are the options of a quick sync.
	QuickSync kubernetesSync `json:"quickSync"`
	// Service is the service whose traffic is routed. Default: the first one.
	Service kubernetesReference `json:"service"`
	// Workloads are the workloads that get variants. Default: all Deployments.
	Workloads []kubernetesReference `json:"workloads"`
	// VariantLabel is the label that distinguishes the variants.
	VariantLabel kubernetesVariantLabel `json:"variantLabel"`
	// TrafficRouting says how traffic is split between the variants.
	TrafficRouting kubernetesRouting `json:"trafficRouting"`
}

type kubernetesInput struct {
	// Manifests are files, relative to the application's directory. Default: all manifests directly in it.
	Manifests []string `json:"manifests"`
	// MultiTargets are inputs for single deploy targets (kubernetes_multicluster). With any, the others are not deployed to.
	MultiTargets []kubernetesMultiTarget `json:"multiTargets"`
	// KubectlVersion is the version of kubectl, where the plugin uses it.
	KubectlVersion string `json:"kubectlVersion"`
	// KustomizeVersion is the version of kustomize, where the plugin runs it.
	KustomizeVersion string `json:"kustomizeVersion"`
	// KustomizeOptions are flags of kustomize build, without the dashes.
	KustomizeOptions map[string]string `json:"kustomizeOptions"`
	// HelmVersion is the version of helm, where the plugin runs it.
	HelmVersion string `json:"helmVersion"`
	// HelmChart is the chart to render.
	HelmChart *kubernetesChart `json:"helmChart"`
	// HelmOptions are options of helm template.
	HelmOptions kubernetesHelmOptions `json:"helmOptions"`
	// Namespace replaces the namespace of every manifest.
	Namespace string `json:"namespace"`
	// AutoCreateNamespace makes the namespace when it is not there. Default false.
	AutoCreateNamespace bool `json:"autoCreateNamespace"`
	// WaitReady false ends a stage as soon as the manifests are applied. Default true.
	WaitReady bool `json:"waitReady"`
	// RolloutTimeout bounds the wait for readiness.
	RolloutTimeout Duration `json:"rolloutTimeout"`
	// FailureGrace is how long pods may fail before the stage does.
	FailureGrace Duration `json:"failureGrace"`
}

type kubernetesMultiTarget struct {
	// Target chooses deploy targets.
	Target kubernetesTargetReference `json:"target"`
	// Manifests are the files for the target. Default: those of input.
	Manifests []string `json:"manifests"`
	// KubectlVersion is the version of kubectl for the target.
	KubectlVersion string `json:"kubectlVersion"`
	// KustomizeDir is a folder that takes the place of the application's directory.
	KustomizeDir string `json:"kustomizeDir"`
	// KustomizeVersion is the version of kustomize for the target.
	KustomizeVersion string `json:"kustomizeVersion"`
	// KustomizeOptions are flags of kustomize build, without the dashes.
	KustomizeOptions map[string]string `json:"kustomizeOptions"`
}

type kubernetesTargetReference struct {
	// Name is the name of the deploy target. PipeCD needs it.
	Name string `json:"name"`
	// Labels choose deploy targets that have them all, when there is no name. PipeCD does not read them.
	Labels map[string]string `json:"labels"`
}

type kubernetesChart struct {
	// Path is a chart in the Git repository, a folder or an archive, relative to the application's directory.
	Path string `json:"path"`
	// Repository is the name or URL of a chart repository of the plugin, or oci://registry/path.
	Repository string `json:"repository"`
	// Name is the name of the chart in its repository or registry.
	Name string `json:"name"`
	// Version is the version of the chart, or a range. Default: the newest one.
	Version string `json:"version"`
}

type kubernetesHelmOptions struct {
	// ReleaseName is the name of the release. Default: the application's name.
	ReleaseName string `json:"releaseName"`
	// SetValues are single values.
	SetValues map[string]string `json:"setValues"`
	// ValueFiles are files with values, relative to the application's directory, or URLs. Later ones win.
	ValueFiles []string `json:"valueFiles"`
	// SetFiles are values that are read from files.
	SetFiles map[string]string `json:"setFiles"`
	// APIVersions are the API versions that the chart sees.
	APIVersions []string `json:"apiVersions"`
	// KubeVersion is the version of Kubernetes that the chart sees. Default: 1.36.0.
	KubeVersion string `json:"kubeVersion"`
}

type kubernetesReference struct {
	// Kind is the kind of the resource.
	Kind string `json:"kind"`
	// Name is the name of the resource.
	Name string `json:"name"`
}

type kubernetesVariantLabel struct {
	// Key is the label. Default pipecd.dev/variant.
	Key string `json:"key"`
	// PrimaryValue is the value for primary. Default primary.
	PrimaryValue string `json:"primaryValue"`
	// CanaryValue is the value for canary. Default canary.
	CanaryValue string `json:"canaryValue"`
	// BaselineValue is the value for baseline. Default baseline.
	BaselineValue string `json:"baselineValue"`
}

type kubernetesRouting struct {
	// Method is podselector, istio or gateway. Default podselector. PipeCD does not know gateway.
	Method string `json:"method" config:"oneof=podselector|istio|gateway"`
	// Istio says which routes are changed.
	Istio kubernetesIstio `json:"istio"`
	// Gateway says which rules of a route of the Gateway API are changed. PipeCD does not read it.
	Gateway kubernetesGateway `json:"gateway"`
}

type kubernetesGateway struct {
	// EditableRules are the names of the rules that may be changed. Default: all with the service.
	EditableRules []string `json:"editableRules"`
	// Route is the HTTPRoute or GRPCRoute. Default: the first HTTPRoute.
	Route kubernetesReference `json:"route"`
}

type kubernetesIstio struct {
	// EditableRoutes are the names of the HTTP routes that may be changed. Default: all with the host.
	EditableRoutes []string `json:"editableRoutes"`
	// Host is the host of the variants, where service has no name. PipeCD does not read it.
	Host string `json:"host"`
	// VirtualService is the virtual service. Default: the first one.
	VirtualService kubernetesReference `json:"virtualService"`
}

type kubernetesSync struct {
	// AddVariantLabelToSelector adds the variant label to selectors and pods. Default false.
	AddVariantLabelToSelector bool `json:"addVariantLabelToSelector"`
	// Prune removes what is no longer in Git. Default false.
	Prune bool `json:"prune"`
	// MultiTargets are names of deploy targets (K8S_MULTI_ stages). Default: all.
	MultiTargets []string `json:"multiTargets"`
	// FailurePolicy is all, any or {maxFailed: N}: how many of the deploy targets of a K8S_MULTI_ stage may fail. Default all. PipeCD does not read it.
	FailurePolicy json.RawMessage `json:"failurePolicy"`
}

type kubernetesPrimary struct {
	// Suffix is the end of names. Default primary.
	Suffix string `json:"suffix"`
	// CreateService makes a service for the variant. Default false.
	CreateService bool `json:"createService"`
	// AddVariantLabelToSelector adds the variant label to selectors and pods. Default false.
	AddVariantLabelToSelector bool `json:"addVariantLabelToSelector"`
	// Prune removes what is no longer in Git. Default false.
	Prune bool `json:"prune"`
	// MultiTargets are names of deploy targets (K8S_MULTI_ stages). Default: all.
	MultiTargets []string `json:"multiTargets"`
	// FailurePolicy is all, any or {maxFailed: N}: how many of the deploy targets of a K8S_MULTI_ stage may fail. Default all. PipeCD does not read it.
	FailurePolicy json.RawMessage `json:"failurePolicy"`
}

type kubernetesCanary struct {
	// Replicas are a number, or a percentage of primary. Default 1.
	Replicas amount `json:"replicas"`
	// Suffix is the end of names. Default canary.
	Suffix string `json:"suffix"`
	// CreateService makes a service for the variant. Default false.
	CreateService bool `json:"createService"`
	// Patches change the manifests of the variant.
	Patches []kubernetesPatch `json:"patches"`
	// MultiTargets are names of deploy targets (K8S_MULTI_ stages). Default: all.
	MultiTargets []string `json:"multiTargets"`
	// FailurePolicy is all, any or {maxFailed: N}: how many of the deploy targets of a K8S_MULTI_ stage may fail. Default all. PipeCD does not read it.
	FailurePolicy json.RawMessage `json:"failurePolicy"`
}

type kubernetesBaseline struct {
	// Replicas are a number, or a percentage of primary. Default 1.
	Replicas amount `json:"replicas"`
	// Suffix is the end of names. Default baseline.
	Suffix string `json:"suffix"`
	// CreateService makes a service for the variant. Default false.
	CreateService bool `json:"createService"`
	// MultiTargets are names of deploy targets (K8S_MULTI_ stages). Default: all.
	MultiTargets []string `json:"multiTargets"`
	// FailurePolicy is all, any or {maxFailed: N}: how many of the deploy targets of a K8S_MULTI_ stage may fail. Default all. PipeCD does not read it.
	FailurePolicy json.RawMessage `json:"failurePolicy"`
}

// kubernetesClean is for several clusters; for one there are no options.
type kubernetesClean struct {
	// MultiTargets are names of deploy targets (K8S_MULTI_ stages). Default: all.
	MultiTargets []string `json:"multiTargets"`
	// FailurePolicy is all, any or {maxFailed: N}: how many of the deploy targets of a K8S_MULTI_ stage may fail. Default all. PipeCD does not read it.
	FailurePolicy json.RawMessage `json:"failurePolicy"`
}

type kubernetesPatch struct {
	// Target is what is changed.
	Target kubernetesPatchTarget `json:"target"`
	// Ops are the changes.
	Ops []kubernetesPatchOp `json:"ops"`
}

type kubernetesPatchTarget struct {
	// Kind is the kind of the manifest.
	Kind string `json:"kind"`
	// Name is the name of the manifest.
	Name string `json:"name"`
	// DocumentRoot is the path of a field whose text is YAML or JSON, to change what is in it.
	DocumentRoot string `json:"documentRoot"`
}

type kubernetesPatchOp struct {
	// Op is yaml-replace, json-patch or strategic-merge; PipeCD reads the first only. Default yaml-replace.
	Op string `json:"op" config:"oneof=yaml-replace|json-patch|strategic-merge"`
	// Path is the path of the field that yaml-replace replaces, such as $.spec.replicas.
	Path string `json:"path"`
	// Value is the new value as YAML, or the patch.
	Value json.RawMessage `json:"value"`
}

type kubernetesTraffic struct {
	// All is the variant that gets all traffic.
	All string `json:"all" config:"oneof=primary|canary|baseline"`
	// Primary is the percentage for primary. Default: what the others leave.
	Primary amount `json:"primary" config:"percentage"`
	// Canary is the percentage for canary.
	Canary amount `json:"canary" config:"percentage"`
	// Baseline is the percentage for baseline.
	Baseline amount `json:"baseline" config:"percentage"`
	// MultiTargets are names of deploy targets (K8S_MULTI_ stages). Default: all.
	MultiTargets []string `json:"multiTargets"`
	// FailurePolicy is all, any or {maxFailed: N}: how many of the deploy targets of a K8S_MULTI_ stage may fail. Default all. PipeCD does not read it.
	FailurePolicy json.RawMessage `json:"failurePolicy"`
}

type kubernetesConfig struct {
	// ChartRepositories are Helm chart repositories.
	ChartRepositories []kubernetesChartRepository `json:"chartRepositories"`
	// ChartRegistries are OCI registries of Helm charts.
	ChartRegistries []kubernetesChartRegistry `json:"chartRegistries"`
	// AllowedChartAddresses are hosts, host:port, IP addresses and networks of this machine or its network that charts may come from, besides those repositories and registries. PipeCD does not read it.
	AllowedChartAddresses []string `json:"allowedChartAddresses"`
}

type kubernetesChartRepository struct {
	// Type is HTTP.
	Type string `json:"type" config:"oneof=HTTP"`
	// Name is what applications choose the repository by.
	Name string `json:"name" config:"required"`
	// Address is the URL of the repository.
	Address string `json:"address" config:"required"`
	// Username logs in.
	Username string `json:"username"`
	// Password logs in.
	Password string `json:"password"`
	// Insecure skips the check of the certificate. Default false.
	Insecure bool `json:"insecure"`
}

type kubernetesChartRegistry struct {
	// Type is OCI.
	Type string `json:"type" config:"oneof=OCI"`
	// Address is the address of the registry.
	Address string `json:"address" config:"required"`
	// Username logs in.
	Username string `json:"username"`
	// Password logs in.
	Password string `json:"password"`
}

type kubernetesTarget struct {
	// MasterURL replaces the address of the API server.
	MasterURL string `json:"masterURL"`
	// KubeConfigPath is the kubeconfig. Default: that of the user, or of the pod.
	KubeConfigPath string `json:"kubeConfigPath"`
	// KubeContext is the context in the kubeconfig. Default: the current one.
	KubeContext string `json:"kubeContext"`
	// ConnectTimeout is how long a stage waits for the cluster to answer. Default 10m. PipeCD does not read it.
	ConnectTimeout Duration `json:"connectTimeout" config:"positive"`
	// ImageBuilder builds images from the sources of applications. PipeCD does not read it.
	ImageBuilder kubernetesImageBuilder `json:"imageBuilder"`
	// AllowedChartAddresses are added to those of the plugin's config. PipeCD does not read it.
	AllowedChartAddresses []string `json:"allowedChartAddresses"`
	// KubectlVersion is the version of kubectl, where the plugin uses it.
	KubectlVersion string `json:"kubectlVersion"`
	// AppStateInformer says which resources are watched.
	AppStateInformer kubernetesInformer `json:"appStateInformer"`
}

type kubernetesImageBuilder struct {
	// Address is host:port of the builder, on this machine.
	Address string `json:"address"`
	// APIKeyFile is the file with the builder's key.
	APIKeyFile string `json:"apiKeyFile"`
}

type kubernetesInformer struct {
	// Namespace limits the watch to one namespace.
	Namespace string `json:"namespace"`
	// IncludeResources are watched besides the usual ones.
	IncludeResources []kubernetesKind `json:"includeResources"`
	// ExcludeResources are not watched.
	ExcludeResources []kubernetesKind `json:"excludeResources"`
}

type kubernetesKind struct {
	// APIVersion is the API version.
	APIVersion string `json:"apiVersion"`
	// Kind is the kind. Default: all of the API version.
	Kind string `json:"kind"`
}
