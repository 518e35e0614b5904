// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// refusal is what the API said of a manifest, as a Kubernetes API has said it, and what is made of it.
type refusal struct {
	manifest string
	// live is the object in the cluster, if the refusal is about a change.
	live string
	err  error
	want string
}

// invalid is a 422 with one cause.
func refuses(field, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid,
		Message: field + ": " + message,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: field, Message: message}}}}}
}

// untyped is what server-side apply says of a manifest that does not fit its schema.
func untyped(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500,
		Message: "failed to create typed patch object (prod/web; apps/v1, Kind=Deployment): " + text}}
}

// unconverted is what the API says of a manifest that fits its schema and that its own types do not take.
func unconverted(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500,
		Message: "failed to convert new object (/web; apps/v1, Kind=Deployment) to proper version: unable to convert " +
			"unstructured object to apps/v1, Kind=Deployment: " + text}}
}

const container = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1.5
  template:
    spec:
      containers:
        - name: main
          image: "app:v1"
          resources: {limits: {memory: lots}}
          ports: []
          env:
            - {name: A, value: b}
            - {name: B, value: c}
            - {name: A, value: 5}
`

const (
	replacing = "to delete and create it again, set metadata.annotations[\"pipecd.dev/force-sync-by-replace\"]: " +
		"enabled in the manifest"
	orRenaming = "; or give it a new name"
	podsGo     = replacing + " (its pods go with it)" + orRenaming
)

func service(fields string) string {
	return "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  " + fields + "\n"
}

func claim(size string) string {
	return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec:\n  resources:\n" +
		"    requests:\n      storage: " + size + "\n"
}

func stateful(size string) string {
	return "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  replicas: " + size[:1] +
		"\n  volumeClaimTemplates:\n    - metadata: {name: data}\n      spec:\n        resources: {requests: " +
		"{storage: " +
		size + "}}\n"
}

func job(image string) string {
	return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate}\nspec:\n  template:\n    spec:\n" +
		"      containers: [{name: main, image: \"" + image + "\"}]\n"
}

func binding(role string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: rb}\nroleRef:\n  kind: " +
		"Role\n  name: " + role + "\n"
}

func class(provisioner string) string {
	return "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: " +
		provisioner + "\n"
}

func selecting(labels string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector:\n    matchLabels: {" +
		labels + "}\n"
}

const (
	claimIsFixed = "Forbidden: spec is immutable after creation except resources.requests and " +
		"volumeAttributesClassName for bound claims\n@@ -6,7 +6,7 @@\n  \"Resources\": {\n   \"Limits\": null,\n"
	setIsFixed = "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', " +
		"'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are " +
		"forbidden"
	podSpec = `{"Volumes":null,"Containers":[{"Name":"main","Image":"app:v2","Command":["}"],"Args":null}]}`
)

func TestARefusalIsALineWithTheFieldAndOneWithTheNextStep(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]refusal{
		"the selector of a Deployment": {selecting("app: web, tier: a"), selecting("app: web"),
			refuses("spec.selector", `Invalid value: {"matchLabels":{"app":"web","tier":"a"}}: field is immutable`),
			"a.yaml:6: Deployment web: spec.selector.matchLabels.tier: cannot be changed in place: nothing in the " +
				"cluster, \"a\" in Git\nnext step: " + podsGo},
		"a selector without a label that it had": {selecting("app: web"), selecting("app: web, tier: a"),
			refuses("spec.selector", `Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"web"}, `+
				`MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable`),
			"a.yaml:6: Deployment web: spec.selector.matchLabels.tier: cannot be changed in place: \"a\" in the " +
				"cluster, nothing in Git\nnext step: " + podsGo},
		"a struct of Go, and an object that is not found": {selecting("app: web"), "",
			refuses("spec.selector", `Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"web"}, `+
				`MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable`),
			"a.yaml:5: Deployment web: spec.selector: cannot be changed in place\nnext step: " + podsGo},
		"the address of a Service": {service("clusterIP: None"), service("clusterIP: 10.96.6.155"),
			refuses("spec.clusterIPs[0]", `Invalid value: ["None"]: may not change once set`),
			"a.yaml:5: Service web: spec.clusterIP: cannot be changed in place: \"10.96.6.155\" in the cluster, " +
				"\"None\" in Git\nnext step: " + replacing + orRenaming},
		"the claims of a StatefulSet": {stateful("2Gi"), stateful("1Gi"), refuses("spec", setIsFixed),
			"a.yaml:9: StatefulSet db: spec.volumeClaimTemplates[0].spec.resources.requests.storage: cannot be " +
				"changed in place: \"1Gi\" in the cluster, \"2Gi\" in Git\nnext step: " + replacing +
				" (its pods go with it, its claims stay as they are)" + orRenaming},
		"the template of a Job": {job("app:v2"), job("app:v1"),
			refuses("spec.template.spec", "Invalid value: "+podSpec+": field is immutable"),
			"a.yaml:7: Job migrate: spec.template.spec.containers[0].image: cannot be changed in place: \"app:v1\" " +
				"in the cluster, \"app:v2\" in Git\nnext step: " + podsGo},
		"a claim that becomes smaller": {claim("1Gi"), claim("2048Mi"), refuses("spec", claimIsFixed),
			"a.yaml:7: PersistentVolumeClaim data: spec.resources.requests.storage: cannot be changed in place: " +
				"\"2048Mi\" in the cluster, \"1Gi\" in Git\nnext step: take the change back, or create a " +
				"PersistentVolumeClaim with a new name and copy the data: deleting this one may delete its data"},
		"a claim of which nothing differs": {claim("2Gi"), claim("2048Mi"), refuses("spec", claimIsFixed),
			"a.yaml:4: PersistentVolumeClaim data: spec: cannot be changed in place: spec is immutable after " +
				"creation except resources.requests and volumeAttributesClassName for bound claims\nnext step: take " +
				"the change back, or create a PersistentVolumeClaim with a new name and copy the data: deleting this " +
				"one may delete its data"},
		"a StorageClass": {class("b"), class("a"), refuses("provisioner", `Invalid value: "b": field is immutable`),
			"a.yaml:4: StorageClass fast: provisioner: cannot be changed in place: \"a\" in the cluster, \"b\" in " +
				"Git\nnext step: " + replacing + " (volumes that exist stay as they are)" + orRenaming},
		"the role of a RoleBinding": {binding("b"), binding("a"),
			refuses("roleRef", `Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: `+
				`cannot change roleRef`),
			"a.yaml:6: RoleBinding rb: roleRef.name: cannot be changed in place: \"a\" in the cluster, \"b\" in Git\n" +
				"next step: " + replacing + orRenaming},
		"a Secret that is fixed": {"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: YQ==\n",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: Yg==\n",
			refuses("data", "Forbidden: field is immutable when `immutable` is set"),
			"a.yaml:5: Secret s: data.a: cannot be changed in place\nnext step: give it a new name; or " + replacing},

		"a variable twice": {container, "",
			untyped(`.spec.template.spec.containers[name="main"].env: duplicate entries for key [name="A"]`),
			"a.yaml:16: Deployment web: spec.template.spec.containers[name=\"main\"].env: two items have name \"A\", " +
				"the first at a.yaml:14\nnext step: remove or rename one of them"},
		"a variable twice, in the cluster": {container, "", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500,
			Message: "failed to create manager for existing fields: failed to convert new object (prod/web; apps/v1, " +
				`Kind=Deployment) to smd typed: .spec.template.spec.containers[name="main"].env: duplicate entries ` +
				`for key [name="A"]`}},
			"a.yaml:13: Deployment web: spec.template.spec.containers[name=\"main\"].env: two items have name \"A\" " +
				"in the cluster, so that nothing in it can be applied\nnext step: set " +
				"metadata.annotations[\"pipecd.dev/sync-by-replace\"]: enabled in the manifest for one deployment, " +
				"which puts the manifest in its place"},
		"a port twice": {service("ports: [{port: 80},\n  {port: 80}]"), "",
			untyped(`.spec.ports: duplicate entries for key [port=80,protocol="TCP"]`),
			"a.yaml:6: Service web: spec.ports: two items have port 80 and protocol \"TCP\", the first at a.yaml:5\n" +
				"next step: remove or rename one of them"},
		"a finalizer twice": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  finalizers:\n  - a/b\n  - " +
			"a/b\n",
			"", untyped(`.metadata.finalizers: duplicate entries for key [="a/b"]`),
			"a.yaml:7: ConfigMap c: metadata.finalizers: two items are \"a/b\", the first at a.yaml:6\n" +
				"next step: remove or rename one of them"},
		"the name of a port twice": {service("ports: [{port: 80, name: a},\n  {port: 81, name: a}]"), "",
			refuses("spec.ports[1].name", `Duplicate value: "a"`),
			"a.yaml:6: Service web: spec.ports[1].name: Duplicate value: \"a\""},

		"a number where text is expected": {container, "", untyped(`.spec.template.spec.containers[name="main"]` +
			`.env[name="B"].value: expected string, got &value.valueUnstructured{Value:5}`),
			"a.yaml:15: Deployment web: spec.template.spec.containers[name=\"main\"].env[name=\"B\"].value: expected " +
				"a string, got \"c\"\nnext step: put the value in quotes"},
		"a map where a list is expected": {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n   " +
			" name: main\n", "", untyped(`.spec.containers: expected list, got &{map[image:app:v1 name:main]}`),
			"a.yaml:5: Pod p: spec.containers: expected a list, got a map\nnext step: put a dash and a space in " +
				"front of each item"},
		"a list where a map is expected": {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: [a]\n", "",
			untyped(`.spec: expected map, got &{[a]}`),
			"a.yaml:4: Pod p: spec: expected a map, got a list of 1\nnext step: remove the dashes in front of its " +
				"fields"},
		"text where a map is expected": {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: web\n", "",
			untyped(`.spec: expected map, got &{web}`),
			"a.yaml:4: Pod p: spec: expected a map, got \"web\"\nnext step: write its fields below it, indented"},
		"a number in quotes": {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: " +
			"\"3\"}\n",
			"", untyped(`.spec.replicas: expected numeric (int or float), got string`),
			"a.yaml:4: Deployment web: spec.replicas: expected a number, got \"3\"\nnext step: remove the quotes"},
		"text for a number, created": {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n" +
			"  replicas: three\n", "", apierrors.NewBadRequest(`Deployment in version "v1" cannot be handled as a ` +
			`Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type ` +
			`int32`),
			"a.yaml:5: Deployment web: spec.replicas: expected a number, got a string"},
		"a map for a port": {service("ports: []"), "",
			unconverted("json: cannot unmarshal object into Go value of type int32"),
			"a.yaml:1: Service web: one of its fields has the wrong type: expected a number, got a map"},
		"a fraction": {container, "", unconverted("cannot convert float64 to int32"),
			"a.yaml:5: Deployment web: spec.replicas: 1.5 is not a whole number\nnext step: write a whole number"},
		"a quantity": {container, "", unconverted("quantities must match the regular expression " +
			`'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`),
			"a.yaml:11: Deployment web: spec.template.spec.containers[0].resources.limits.memory: \"lots\" is not a " +
				"quantity\nnext step: write a number with a unit, such as 500m, 128Mi or 2Gi"},
		"a time": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  creationTimestamp: yesterday\n", "",
			unconverted(`parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`),
			"a.yaml:5: ConfigMap c: metadata.creationTimestamp: \"yesterday\" is not a time\n" +
				"next step: write it as 2006-01-02T15:04:05Z"},
		"base64": {"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: YQ==\n  b: s3cret!\n", "",
			unconverted("error decoding from json: illegal base64 data at input byte 3"),
			"a.yaml:6: Secret s: data.b: the value is not valid base64\nnext step: encode the value with base64, or " +
				"write it as it is below stringData"},
		"a value that the types do not take in another way": {container, "", unconverted("no\nway"),
			"a.yaml:1: Deployment web: no way"},

		"several unknown fields": {container, "", untyped("errors:\n  .spec.template.spec.x: field not declared in " +
			"schema\n  .spec.replicas.y: field not declared in schema"),
			"a.yaml:5: Deployment web: spec.replicas.y: no such field in apps/v1 Deployment; spec.template.spec.x: " +
				"no such field in apps/v1 Deployment\nnext step: look for a misspelling or a wrong indentation"},
		"a label": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  labels:\n    a: \"b\"\n    c: \"d!\"\n",
			"",
			refuses("metadata.labels", `Invalid value: "d!": a valid label must be an empty string (e.g. 'MyValue', `+
				`regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`),
			"a.yaml:7: ConfigMap c: metadata.labels: Invalid value: \"d!\": a valid label must be an empty string " +
				"(e.g. 'MyValue')\nnext step: " + labelRemedy},
		"the key of a label": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  labels:\n    a/b/c: d\n", "",
			refuses("metadata.labels", `Invalid value: "a/b/c": a valid label key must consist of letters`),
			"a.yaml:6: ConfigMap c: metadata.labels: Invalid value: \"a/b/c\": a valid label key must consist of " +
				"letters\nnext step: " + labelRemedy},
		"a name": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: My_C\n", "", refuses("metadata.name",
			`Invalid value: "My_C": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters`),
			"a.yaml:4: ConfigMap My_C: metadata.name: Invalid value: \"My_C\": a lowercase RFC 1123 subdomain must " +
				"consist of lower case alphanumeric characters\nnext step: " + nameRemedy},
		"the name of a port": {service("ports: [{port: 80, name: My_Port}]"), "", refuses("spec.ports[0].name",
			`Invalid value: "My_Port": a lowercase RFC 1123 label must consist of lower case alphanumeric characters`),
			"a.yaml:5: Service web: spec.ports[0].name: Invalid value: \"My_Port\": a lowercase RFC 1123 label must " +
				"consist of lower case alphanumeric characters\nnext step: " + nameRemedy},
		"the key of a ConfigMap": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a b: c\n", "",
			refuses("data[a b]", `Invalid value: "a b": a valid config key must consist of letters`),
			"a.yaml:5: ConfigMap c: data[a b]: Invalid value: \"a b\": a valid config key must consist of letters\n" +
				"next step: rename the key: use letters, digits, '-', '_' and '.'"},
		"a mount without a volume": {container, "", refuses("spec.template.spec.containers[0].volumeMounts[0].name",
			`Not found: "gone"`),
			"a.yaml:9: Deployment web: spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"gone\"\n" +
				"next step: add a volume with this name to spec.template.spec.volumes, or remove the mount"},
		"a request above its limit": {container, "", refuses("spec.template.spec.containers[0].resources.requests",
			`Invalid value: "3": must be less than or equal to cpu limit of 2`),
			"a.yaml:11: Deployment web: spec.template.spec.containers[0].resources.requests: Invalid value: \"3\": " +
				"must be less than or equal to cpu limit of 2\nnext step: lower the request, or raise the limit"},
		"credentials of a registry": {"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ntype: " +
			"kubernetes.io/dockerconfigjson\n", "", refuses("data[.dockerconfigjson]", `Invalid value: "<secret `+
			`contents redacted>": invalid character 'h' looking for beginning of value`),
			"a.yaml:1: Secret s: data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid " +
				"character 'h' looking for beginning of value\nnext step: write JSON such as " +
				`{"auths": {"registry.example": {"username": "…", "password": "…"}}}`},
		"labels that do not match": {container, "", refuses("spec.template.spec", "Invalid value: {\"app\":\"web2\"}: "+
			"`selector` does not match template `labels`"),
			"a.yaml:7: Deployment web: spec.template.spec: `selector` does not match template `labels`\nnext step: " +
				"give the pod template every label of spec.selector"},

		"a request that is too large": {container, "", apierrors.NewRequestEntityTooLargeError("limit is 3145728"),
			"a.yaml:1: Deployment web: it is larger than the API takes: Request entity too large: limit is 3145728\n" +
				"next step: " + tooLargeRemedy},
		"an object that is too large": {container, "", refuses("[]", "Too long: may not be more than 1048576 bytes"),
			"a.yaml:1: Deployment web: Too long: may not be more than 1048576 bytes\nnext step: " + tooLargeRemedy},
		"annotations that are too large": {container, "",
			refuses("metadata.annotations", "Too long: may not be more than 262144 bytes"),
			"a.yaml:3: Deployment web: metadata.annotations: Too long: may not be more than 262144 bytes\n" +
				"next step: shorten it"},
		"a claim that cannot grow": {claim("3Gi"), claim("2Gi"), apierrors.NewForbidden(
			schema.GroupResource{Resource: "persistentvolumeclaims"}, "data", errors.New("only dynamically "+
				"provisioned "+
				"pvc can be resized and the storageclass that provisions the pvc must support resize")),
			"a.yaml:1: PersistentVolumeClaim data: its StorageClass does not let it grow\nnext step: set " +
				"allowVolumeExpansion: true in the StorageClass, or take the change back"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := describe(tt.err, parseAs(t, tt.manifest), inquiry{live: func() *unstructured.Unstructured {
				if tt.live == "" {
					return nil
				}
				return parseAs(t, tt.live).Unstructured
			}})
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, tt.err)
		})
	}
}

func TestAMisspeltFieldNamesTheNearestOne(t *testing.T) {
	t.Parallel()
	known := map[string][]string{
		"":                   {"apiVersion", "kind", "metadata", "spec"},
		"spec":               {"replicas", "selector", "template"},
		"spec.template.spec": {"containers", "hostNetwork"},
	}
	ask := inquiry{fields: func(path string) []string { return known[path[:max(0, strings.LastIndex(path, "."))]] }}
	for path, want := range map[string]string{
		"spec.replica":                "did you mean replicas?",
		"spec.template.spec.replicas": "the field belongs next to template: look at its indentation",
		"spec.template.spec.nothing":  "look for a misspelling or a wrong indentation",
	} {
		require.Equal(t, want, suggest(path, ask), path)
	}
}

func TestOnlyAnAbsentWebhookMayTakeTheManifestLater(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`failed calling webhook "w.example": Post "https://w.default.svc:443/": no service "w"`: true,
		`admission webhook "w.example" denied the request: no owner`:                            false,
	} {
		err := describe(apierrors.NewInternalError(errors.New(text)), parseAs(t, service("ports: []")), inquiry{})
		require.Equal(t, want, cluster.Passing(fmt.Errorf("apply: %w", errors.Join(err, err))), text)
		require.ErrorContains(t, err, "webhook w.example")
	}
}

func TestEveryMisspeltFieldIsNamedAlthoughTheAPIStopsAtTheFirst(t *testing.T) {
	t.Parallel()
	known := map[string][]string{
		"":                                {"apiVersion", "kind", "metadata", "spec"},
		"spec":                            {"replicas", "template"},
		"spec.template":                   {"metadata", "spec"},
		"spec.template.spec":              {"containers"},
		"spec.template.spec.containers[]": {"image", "imagePullPolicy", "name", "resources"},
		"spec.template.spec.containers[].resources": {"limits", "requests"},
	}
	ask := inquiry{fields: func(path string) []string {
		return known[item.ReplaceAllString(path[:max(0, strings.LastIndex(path, "."))], "[]")]
	}}
	m := parseAs(t, `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {what: ever}}
spec:
  template:
    spec:
      containers:
        - name: main
          imagePul: Always
          resources: {limts: {cpu: 1}}
        - name: side
          imagePul: Always
  replicass: 1
`)
	reason := describe(untyped(`.spec.template.spec.containers[name="main"].imagePul: field not declared in schema`), m,
		ask).Error()
	require.Equal(t, 1, strings.Count(reason, `containers[name="main"].imagePul: no such field`))
	require.Contains(t, reason, `containers[name="main"].resources.limts: no such field`)
	require.Contains(t, reason, `containers[name="side"].imagePul: no such field`)
	require.Contains(t, reason, "spec.replicass: no such field")
	require.NotContains(t, reason, "what", "labels have no fixed fields")

	for _, first := range []string{`[name="main"].resources.limts`, `[name="side"].imagePul`} {
		other := describe(untyped(".spec.template.spec.containers"+first+": field not declared in schema"), m, ask)
		require.EqualError(t, other, reason, "the API begins where it likes")
	}
}
