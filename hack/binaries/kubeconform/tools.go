//go:build tools

package tools

import _ "github.com/yannh/kubeconform/cmd/kubeconform"
